package proxmox

import (
	"crypto/sha256"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"homeward/netplan"
)

// theSecret must never be seen in any output.
const theSecret = "7f3a9c52-hunter2-4d1e-9b7a-2c8e5f60d114"

// scripted is a server whose every answer is the test's, and a record of what the
// client says.
type scripted struct {
	*httptest.Server
	mu     sync.Mutex
	output strings.Builder // all that the client printed, logged or failed with
	seen   []Request
}

// serve starts a server.
func serve(t *testing.T, handler http.HandlerFunc) *scripted {
	t.Helper()
	s := &scripted{Server: httptest.NewUnstartedServer(handler)}
	s.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(io.Discard, nil), slog.LevelInfo)
	s.StartTLS()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		if strings.Contains(s.output.String(), "hunter2") {
			t.Errorf("the secret appears: %s", s.output.String())
		}
	})
	return s
}

// access is how the server is reached, with its certificate pinned.
func (s *scripted) access() netplan.ProxmoxAccess {
	sum := sha256.Sum256(s.Certificate().Raw)
	return netplan.ProxmoxAccess{
		ProxmoxSpec: netplan.ProxmoxSpec{URL: s.URL, Fingerprint: colons(sum[:])},
		TokenID:     "homeward@pve!test", TokenSecret: netplan.NewSecret(theSecret),
	}
}

// client gives a client that notes everything it can say.
func (s *scripted) client(t *testing.T, change func(*Options)) *Client {
	t.Helper()
	o := Options{
		Access: s.access(), Timeout: 2 * time.Second,
		Observe: func(r Request) {
			s.say(r.String())
			s.mu.Lock()
			defer s.mu.Unlock()
			s.seen = append(s.seen, r)
		},
		Log: slog.New(slog.NewTextHandler(sink{s}, &slog.HandlerOptions{Level: slog.LevelDebug - 10})),
	}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *scripted) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.output.WriteString(text + "\n")
}

// sink is the log.
type sink struct{ s *scripted }

func (w sink) Write(p []byte) (int, error) { w.s.say(string(p)); return len(p), nil }

// caFile writes the server's certificate where a plan would name it.
func (s *scripted) caFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// answer writes one as Proxmox does.
func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// reason answers with a status line of any text and no body, which the HTTP library
// cannot: pveproxy's own failures look like that.
func reason(w http.ResponseWriter, line string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	io.WriteString(conn, "HTTP/1.1 "+line+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	conn.Close()
}
