package image

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
)

func TestPush(t *testing.T) {
	l, img := newLab(t, false), built(t)
	got, err := img.Push(t.Context(), l.ref(t), l.options())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Pushed{Uploaded: 7}, got); diff != "" {
		t.Error(diff)
	}
	for _, say := range []string{"layer for linux/amd64", "layer for linux/arm64", "configuration for", "manifest for", "uploaded: index", img.Digest} {
		if !strings.Contains(l.logged.String(), say) {
			t.Errorf("the log does not say %q:\n%s", say, &l.logged)
		}
	}
	if last := l.requests[len(l.requests)-1]; last != "PUT /v2/lab/homeward-agent/manifests/v1" {
		t.Errorf("the last request is %s, not the tag", last)
	}
	l.holds(t, img)

	t.Run("again", func(t *testing.T) {
		l.requests = nil
		got, err := img.Push(t.Context(), l.ref(t), l.options())
		if diff := cmp.Diff(Pushed{Present: 1}, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
		if n := l.count("POST") + l.count("PATCH") + l.count("PUT"); n != 0 {
			t.Errorf("%d writes: %v", n, l.requests)
		}
	})
	t.Run("under another tag", func(t *testing.T) {
		got, err := img.Push(t.Context(), mustReference(t, l.host()+"/lab/homeward-agent:v2"), l.options())
		if diff := cmp.Diff(Pushed{Uploaded: 1, Present: 2}, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
	t.Run("with one new binary the other's blobs stay", func(t *testing.T) {
		other := tiny(ARM64)
		other.payload = "newer"
		l.requests = nil
		newer := builtOf(t, tiny(AMD64), other)
		if _, err := newer.Push(t.Context(), l.ref(t), l.options()); err != nil {
			t.Fatal(err)
		}
		if n := l.count("PATCH"); n != 2 {
			t.Errorf("%d uploads, want a layer and a configuration: %v", n, l.requests)
		}
		l.holds(t, newer)
	})
}

func TestPushTLS(t *testing.T) {
	img := built(t)
	t.Run("an authority that nobody knows", func(t *testing.T) {
		l := newLab(t, true)
		o := l.options()
		o.PlainHTTP = false
		_, err := img.Push(t.Context(), l.ref(t), o)
		wantError(t, err, "--ca-file", l.host())
		if len(l.requests) > 0 {
			t.Errorf("sent %v", l.requests)
		}
	})
	t.Run("the authority given", func(t *testing.T) {
		l := newLab(t, true)
		o := l.options()
		o.PlainHTTP, o.CAFile = false, l.caFile(t)
		if _, err := img.Push(t.Context(), l.ref(t), o); err != nil {
			t.Fatal(err)
		}
		l.holds(t, img)
	})
	t.Run("a certificate for another name", func(t *testing.T) {
		l := newLab(t, true)
		o := l.options()
		o.PlainHTTP, o.CAFile = false, l.caFile(t)
		_, port, _ := strings.Cut(l.host(), ":")
		_, err := img.Push(t.Context(), mustReference(t, "localhost:"+port+"/agent:v1"), o)
		wantError(t, err, "another name")
	})
	t.Run("a registry without TLS gets no request without leave", func(t *testing.T) {
		l := newLab(t, false)
		o := l.options()
		o.PlainHTTP = false
		_, err := img.Push(t.Context(), l.ref(t), o)
		wantError(t, err, "--plain-http")
		if len(l.requests) > 0 {
			t.Errorf("sent %v", l.requests)
		}
	})
	t.Run("a registry with TLS spoken to without", func(t *testing.T) {
		l := newLab(t, true)
		o := l.options()
		o.CAFile = l.caFile(t)
		_, err := img.Push(t.Context(), l.ref(t), o)
		wantError(t, err, "leave --plain-http away")
	})
	t.Run("a CA file that is none", func(t *testing.T) {
		l := newLab(t, true)
		for _, path := range []string{put(t, "ca.pem", []byte("no certificate")), t.TempDir() + "/missing.pem"} {
			o := l.options()
			o.CAFile = path
			_, err := img.Push(t.Context(), l.ref(t), o)
			wantError(t, err, "--ca-file")
			if !errors.Is(err, ErrArgument) {
				t.Errorf("%v is the command line's fault", err)
			}
		}
	})
}

func TestPushLogin(t *testing.T) {
	const password = "hunter2"
	img := built(t)
	// basic lets one account in, and another that may not push.
	basic := func(w http.ResponseWriter, r *http.Request) bool {
		user, given, ok := r.BasicAuth()
		switch {
		case !ok || given != password:
			w.Header().Set("WWW-Authenticate", `Basic realm="lab"`)
			w.WriteHeader(http.StatusUnauthorized)
		case user == "reader" && r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"errors":[{"code":"DENIED","message":"requested access to the resource is denied"}]}`)
		default:
			return false
		}
		return true
	}
	tests := []struct {
		name, user, password string
		say                  []string
	}{
		{"the right login", "writer", password, nil},
		{"a wrong password", "writer", "Tr0ub4dor", []string{"(401)", "docker login", "does not accept"}},
		{"no login", "", "", []string{"there is none", "docker login", "podman login"}},
		{"no right to push", "reader", password, []string{"(403)", "may not push to lab/homeward-agent"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t, false)
			l.fault = basic
			host := l.host()
			if test.user == "" {
				host = ""
			}
			loggedIn(t, host, test.user, test.password)
			o := l.options()
			o.Keychain = authn.DefaultKeychain
			_, err := img.Push(t.Context(), l.ref(t), o)
			if test.say == nil {
				if err != nil {
					t.Fatal(err)
				}
				l.holds(t, img)
				return
			}
			wantError(t, err, append(test.say, l.host())...)
			if n := l.count("GET /v2/"); n > 2 {
				t.Errorf("a refusal was tried again: %v", l.requests)
			}
			for _, secret := range []string{password, "Tr0ub4dor"} {
				if strings.Contains(err.Error()+l.logged.String(), secret) {
					t.Errorf("the password is told: %v\n%s", err, &l.logged)
				}
			}
		})
	}
	t.Run("a configuration that cannot be read", func(t *testing.T) {
		l := newLab(t, false)
		loggedIn(t, l.host(), "u", "p")
		if err := os.WriteFile(os.Getenv("DOCKER_CONFIG")+"/config.json", []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		o := l.options()
		o.Keychain = authn.DefaultKeychain
		_, err := img.Push(t.Context(), l.ref(t), o)
		wantError(t, err, "reading the credentials")
	})
}

func TestPushToken(t *testing.T) {
	img := built(t)
	l := newLab(t, false)
	answer := `{"token":"t0ken"}`
	service := func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			if user, password, _ := r.BasicAuth(); user != "writer" || password != "hunter2" {
				w.WriteHeader(http.StatusUnauthorized)
				return true
			}
			fmt.Fprint(w, answer)
			return true
		}
		if r.Header.Get("Authorization") == "Bearer t0ken" {
			return false
		}
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="lab"`, l.host()))
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	o := l.options()
	o.Keychain = authn.DefaultKeychain
	t.Run("refused by the token service", func(t *testing.T) {
		l.fault = service
		loggedIn(t, l.host(), "writer", "wrong")
		_, err := img.Push(t.Context(), l.ref(t), o)
		wantError(t, err, "docker login "+l.host(), "does not accept")
	})
	t.Run("a token service's odd answer is kept", func(t *testing.T) {
		l.fault, answer = service, `{"refresh_token":"s3cret"}`
		loggedIn(t, l.host(), "writer", "hunter2")
		_, err := img.Push(t.Context(), l.ref(t), o)
		wantError(t, err, "gave no token")
		if strings.Contains(err.Error()+l.logged.String(), "s3cret") {
			t.Errorf("told: %v\n%s", err, &l.logged)
		}
	})
	t.Run("let in", func(t *testing.T) {
		l.fault, answer = service, `{"token":"t0ken"}`
		loggedIn(t, l.host(), "writer", "hunter2")
		if _, err := img.Push(t.Context(), l.ref(t), o); err != nil {
			t.Fatal(err)
		}
		l.holds(t, img)
	})
}

// wantError wants all of the words in one error, which leaves nothing unknown.
func wantError(t *testing.T, err error, say ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", say)
	}
	if errors.Is(err, ErrUnknown) {
		t.Errorf("%v: nothing is unknown", err)
	}
	for _, s := range say {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("got %q, want %q in it", err, s)
		}
	}
}
