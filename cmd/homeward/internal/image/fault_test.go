package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

const tagPath = "/v2/lab/homeward-agent/manifests/v1"

// first makes a fault that strikes the first n requests of a method and a path.
func first(n int, method, part string, strike func(http.ResponseWriter, *http.Request)) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if n == 0 || r.Method != method || !strings.Contains(r.URL.Path, part) {
			return false
		}
		n--
		strike(w, r)
		return true
	}
}

func status(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// cut reads some of the body and hangs up.
func cut(w http.ResponseWriter, r *http.Request) {
	_, _ = io.CopyN(io.Discard, r.Body, 64)
	hangUp(w)
}

func TestPushGoesOnAfterFaults(t *testing.T) {
	big := tiny(AMD64)
	for n := range 1 << 17 {
		big.payload += fmt.Sprintf("%x", n*n*7919)[:1]
		if len(big.payload) >= 1<<14 {
			break
		}
	}
	img := builtOf(t, big, tiny(ARM64))
	tests := []struct {
		name  string
		fault func(http.ResponseWriter, *http.Request) bool
	}{
		{"500 at the greeting", first(1, http.MethodGet, "/v2/", status(500))},
		{"500 in the middle", first(2, http.MethodPatch, "/uploads/", status(500))},
		{"too many requests", first(1, http.MethodPost, "/uploads/", status(429))},
		{"a gateway's error when a blob is committed", first(1, http.MethodPut, "/uploads/", status(502))},
		{"cut while uploading", first(3, http.MethodPatch, "/uploads/", cut)},
		{"cut before the answer about the tag", first(1, http.MethodPut, tagPath, cut)},
		{"503 for a platform's manifest", first(3, http.MethodPut, "/manifests/sha256:", status(503))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t, false)
			l.fault = test.fault
			if _, err := img.Push(t.Context(), l.ref(t), l.options()); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(l.logged.String(), "trying again") {
				t.Errorf("the log does not tell of the fault:\n%s", &l.logged)
			}
			l.holds(t, img)
		})
	}
}

func TestPushGivesUp(t *testing.T) {
	img := built(t)
	tests := []struct {
		name     string
		fault    func(http.ResponseWriter, *http.Request) bool
		path     string
		attempts int
		say      []string
	}{
		{"a broken registry", first(99, http.MethodPost, "/uploads/", status(500)), "POST", 4, []string{"500 Internal Server Error"}},
		{"no such repository", first(99, http.MethodPost, "/uploads/", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"errors":[{"code":"NAME_UNKNOWN","message":"project lab not found"}]}`)
		}), "POST", 1, []string{"has no lab/homeward-agent", "NAME_UNKNOWN: project lab not found"}},
		{"a layer that is too large", first(99, http.MethodPatch, "/uploads/", status(413)), "PATCH", 1, []string{"raise its limit"}},
		{"a tag that may not change", first(99, http.MethodPut, tagPath, status(409)), "PUT " + tagPath, 1, []string{"409 Conflict"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t, false)
			l.fault = test.fault
			_, err := img.Push(t.Context(), l.ref(t), l.options())
			wantError(t, err, test.say...)
			if n := l.count(test.path); n != test.attempts {
				t.Errorf("%d attempts, want %d", n, test.attempts)
			}
		})
	}
	t.Run("nobody listens", func(t *testing.T) {
		gone, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		gone.Close()
		for _, plain := range []bool{true, false} {
			l := newLab(t, false)
			o := l.options()
			o.PlainHTTP = plain
			_, err = img.Push(t.Context(), mustReference(t, gone.Addr().String()+"/agent:v1"), o)
			wantError(t, err, gone.Addr().String()+" refuses the connection")
			if strings.Contains(l.logged.String(), "trying again") {
				t.Errorf("a wrong port was tried again:\n%s", &l.logged)
			}
		}
	})
	t.Run("a name that is not known", func(t *testing.T) {
		l := newLab(t, false)
		o := l.options()
		o.Pauses = nil
		_, err := img.Push(t.Context(), mustReference(t, "registry.invalid:5000/agent:v1"), o)
		wantError(t, err, "name of registry registry.invalid:5000 is not known")
	})
}

func TestPushUnknown(t *testing.T) {
	img := built(t)
	tests := []struct {
		name  string
		fault func(*lab) func(http.ResponseWriter, *http.Request) bool
	}{
		{"no answer after the tag was sent, and none since", func(l *lab) func(http.ResponseWriter, *http.Request) bool {
			gone := false
			return func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPut && r.URL.Path == tagPath {
					gone = true
				}
				if gone {
					hangUp(w)
				}
				return gone
			}
		}},
		{"a gateway's error for the tag, each time", func(*lab) func(http.ResponseWriter, *http.Request) bool {
			return first(99, http.MethodPut, tagPath, status(504))
		}},
		{"written without an answer, then a login that is over", func(l *lab) func(http.ResponseWriter, *http.Request) bool {
			written := false
			return func(w http.ResponseWriter, r *http.Request) bool {
				if written {
					w.WriteHeader(http.StatusUnauthorized)
					return true
				}
				if r.Method == http.MethodPut && r.URL.Path == tagPath {
					written = true
					hangUp(w)
				}
				return written
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t, false)
			l.fault = test.fault(l)
			_, err := img.Push(t.Context(), l.ref(t), l.options())
			if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "push again") {
				t.Errorf("got %v, want an unknown outcome", err)
			}
		})
	}
	t.Run("written without an answer, and found written", func(t *testing.T) {
		l := newLab(t, false)
		l.fault = first(1, http.MethodPut, tagPath, func(w http.ResponseWriter, r *http.Request) {
			l.registry.ServeHTTP(discard{}, r)
			hangUp(w)
		})
		if _, err := img.Push(t.Context(), l.ref(t), l.options()); err != nil {
			t.Fatal(err)
		}
		if n := l.count("PUT " + tagPath); n != 1 {
			t.Errorf("the tag was written %d times", n)
		}
		l.holds(t, img)
	})
}

// discard takes an answer that nobody gets.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

func TestPushEndsWithItsContext(t *testing.T) {
	img := built(t)
	stuck := func(l *lab, method, part string, reached chan<- struct{}, release <-chan struct{}) {
		l.fault = first(1, method, part, func(_ http.ResponseWriter, r *http.Request) {
			close(reached)
			select {
			case <-r.Context().Done():
			case <-release:
			}
		})
	}
	// push starts one, waits until the registry is reached, and ends it.
	push := func(t *testing.T, method, part string, ctx context.Context, end func()) error {
		l := newLab(t, false)
		reached, release := make(chan struct{}), make(chan struct{})
		defer close(release)
		stuck(l, method, part, reached, release)
		done := make(chan error, 1)
		go func() {
			_, err := img.Push(ctx, l.ref(t), l.options())
			done <- err
		}()
		select {
		case <-reached:
		case err := <-done:
			return err
		}
		end()
		select {
		case err := <-done:
			return err
		case <-time.After(5 * time.Second):
			t.Fatal("the push goes on")
			return nil
		}
	}
	t.Run("interrupted while uploading", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := push(t, http.MethodPatch, "/uploads/", ctx, cancel)
		wantError(t, err, "interrupted")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("interrupted while the tag is written", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		if err := push(t, http.MethodPut, tagPath, ctx, cancel); !errors.Is(err, ErrUnknown) {
			t.Errorf("got %v, want an unknown outcome", err)
		}
	})
	t.Run("a registry that is too slow", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		wantError(t, push(t, http.MethodPatch, "/uploads/", ctx, func() {}), "--timeout")
	})
	t.Run("interrupted in a pause", func(t *testing.T) {
		l := newLab(t, false)
		ctx, cancel := context.WithCancel(t.Context())
		l.fault = func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusServiceUnavailable)
			time.AfterFunc(50*time.Millisecond, cancel)
			return true
		}
		o := l.options()
		o.Pauses = []time.Duration{10 * time.Second}
		_, err := img.Push(ctx, l.ref(t), o)
		wantError(t, err, "interrupted")
	})
}
