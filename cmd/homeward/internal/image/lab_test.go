package image

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// lab is a registry in this process, with a place to put faults.
type lab struct {
	server   *httptest.Server
	registry http.Handler
	// fault may answer in the registry's place, and says whether it did.
	fault func(http.ResponseWriter, *http.Request) bool
	// logged is what a push told.
	logged bytes.Buffer

	mu       sync.Mutex
	requests []string
}

// newLab starts a registry, with TLS of an authority that nobody knows or without.
func newLab(t *testing.T, secure bool) *lab {
	t.Helper()
	l := &lab{registry: registry.New(registry.Logger(log.New(io.Discard, "", 0)))}
	l.server = httptest.NewUnstartedServer(http.HandlerFunc(l.serve))
	l.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		l.server.StartTLS()
	} else {
		l.server.Start()
	}
	t.Cleanup(l.server.Close)
	return l
}

func (l *lab) serve(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	l.requests = append(l.requests, r.Method+" "+r.URL.Path)
	l.mu.Unlock()
	if l.fault != nil && l.fault(w, r) {
		return
	}
	l.registry.ServeHTTP(w, r)
}

// count is how many requests held the text.
func (l *lab) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, r := range l.requests {
		if strings.Contains(r, text) {
			n++
		}
	}
	return n
}

func (l *lab) host() string { return l.server.Listener.Addr().String() }

func (l *lab) ref(t *testing.T) Reference {
	t.Helper()
	return mustReference(t, l.host()+"/lab/homeward-agent:v1")
}

// options push without TLS and without patience for real.
func (l *lab) options() Options {
	return Options{
		PlainHTTP: true, Agent: "homeward/test",
		Log:    slog.New(slog.NewTextHandler(&l.logged, nil)),
		Pauses: []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond},
	}
}

// holds checks that the registry has the image whole under the tag.
func (l *lab) holds(t *testing.T, img *Image) {
	t.Helper()
	l.fault = nil
	tag, err := name.NewTag(l.ref(t).String())
	if err != nil {
		t.Fatal(err)
	}
	got, err := remote.Index(tag, remote.WithTransport(l.server.Client().Transport))
	if err != nil {
		t.Fatal(err)
	}
	if d, err := got.Digest(); err != nil || d.String() != img.Digest {
		t.Errorf("the tag is %v, %v, want %s", d, err, img.Digest)
	}
	for _, part := range img.Parts {
		layers, err := part.image.Layers()
		if err != nil {
			t.Fatal(err)
		}
		d, err := layers[0].Digest()
		if err != nil {
			t.Fatal(err)
		}
		blob, err := remote.Layer(tag.Context().Digest(d.String()), remote.WithTransport(l.server.Client().Transport))
		if err != nil {
			t.Fatal(err)
		}
		r, err := blob.Compressed()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Errorf("the layer of %s: %v", part.Platform, err)
		}
		r.Close()
	}
}

// caFile is the certificate of the lab's authority.
func (l *lab) caFile(t *testing.T) string {
	t.Helper()
	return put(t, "ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: l.server.Certificate().Raw}))
}

// hangUp cuts the connection without an answer.
func hangUp(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	if c, ok := conn.(*tls.Conn); ok {
		conn = c.NetConn()
	}
	conn.Close()
}

// loggedIn makes a docker configuration with a login, and nothing else of the
// machine's.
func loggedIn(t *testing.T, host, user, password string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("DOCKER_CONFIG", dir)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	text := `{"auths":{"` + host + `":{"username":"` + user + `","password":"` + password + `"}}}`
	if host == "" {
		text = "{}"
	}
	if err := os.WriteFile(dir+"/config.json", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
