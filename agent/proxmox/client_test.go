package proxmox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"homeward/agent/ledger"
)

// classes are ledger's errors by name.
var classes = map[string]error{
	"taken": ledger.ErrTaken, "stale": ledger.ErrStale, "gone": ledger.ErrGone,
	"busy": ledger.ErrBusy, "refused": ledger.ErrRefused, "unknown": ledger.ErrUnknown,
}

// class names what is found in an error: "-" for none of them, "done" for no error.
func class(err error) string {
	if err == nil {
		return "done"
	}
	var found []string
	for name, sentinel := range classes {
		if errors.Is(err, sentinel) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return "-"
	}
	return strings.Join(found, "+")
}

// message is an error body as Proxmox writes it.
func message(text string) string {
	b, _ := json.Marshal(map[string]any{"data": nil, "message": text + "\n"})
	return string(b)
}

func TestAnswers(t *testing.T) {
	parameter := func(name, text string) string {
		b, _ := json.Marshal(map[string]any{"data": nil, "message": "Parameter verification failed.\n", "errors": map[string]string{name: text}})
		return string(b)
	}
	reset := func(w http.ResponseWriter) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		conn.Close()
	}
	for name, c := range map[string]struct {
		handler     func(http.ResponseWriter)
		write, read string // the class
		text        string // what the error says
	}{
		"done":                   {func(w http.ResponseWriter) { answer(w, 200, `{"data":null}`) }, "done", "-", "holds no data"},
		"done with a value":      {func(w http.ResponseWriter) { answer(w, 200, `{"data":[{"cidr":"192.0.2.1"}]}`) }, "done", "done", ""},
		"a member that is there": {func(w http.ResponseWriter) { answer(w, 400, parameter("cidr", "address '192.0.2.1' already exists")) }, "taken", "taken", "(cidr: address '192.0.2.1' already exists)"},
		"a pool that is there": {func(w http.ResponseWriter) {
			answer(w, 500, message("create pool failed: pool 'hw-a-0' already exists"))
		}, "taken", "taken", "already exists"},
		"an IPAM entry":      {func(w http.ResponseWriter) { answer(w, 500, message("IP '192.0.2.1' already exist")) }, "taken", "taken", ""},
		"a set with members": {func(w http.ResponseWriter) { answer(w, 500, message("IPSet 'hw-a-0' is not empty")) }, "taken", "taken", ""},
		"a digest": {func(w http.ResponseWriter) {
			answer(w, 500, message("detected modified configuration - file changed by other user? Try again."))
		}, "stale", "stale", ""},
		"a set that is not there": {func(w http.ResponseWriter) { answer(w, 500, message("no such IPSet 'hw-a-0'")) }, "gone", "gone", "no such IPSet 'hw-a-0'"},
		"a guest that is not there": {func(w http.ResponseWriter) {
			answer(w, 500, message("Configuration file 'nodes/pve1/qemu-server/113.conf' does not exist"))
		}, "gone", "gone", ""},
		"a member that is gone": {func(w http.ResponseWriter) { answer(w, 400, parameter("cidr", "no such IP/Network")) }, "gone", "gone", ""},
		"a lock others have": {func(w http.ResponseWriter) {
			answer(w, 500, message("cfs-lock 'firewall-cluster' error: got lock request timeout"))
		}, "busy", "busy", "try again"},
		"a lock that ran out": {func(w http.ResponseWriter) {
			answer(w, 500, message("'firewall-cluster'-locked command timed out - aborting"))
		}, "unknown", "-", ""},
		"no quorum":         {func(w http.ResponseWriter) { answer(w, 500, message("cfs-lock 'firewall-cluster' error: no quorum!")) }, "refused", "refused", "no quorum"},
		"a wrong parameter": {func(w http.ResponseWriter) { answer(w, 400, parameter("cidr", "invalid format")) }, "refused", "refused", "invalid format"},
		"no right":          {func(w http.ResponseWriter) { answer(w, 403, message("Permission check failed (/, Sys.Modify)")) }, "refused", "refused", "homeward proxmox permissions"},
		"a bad token":       {func(w http.ResponseWriter) { reason(w, "401 invalid token value!") }, "refused", "refused", "does not take the token"},
		"no such call":      {func(w http.ResponseWriter) { answer(w, 501, message("Method 'POST /x' not implemented")) }, "refused", "refused", ""},
		"any other failure": {func(w http.ResponseWriter) {
			answer(w, 500, message("unable to write '/etc/pve/firewall/cluster.fw.tmp'"))
		}, "unknown", "-", "unable to write"},
		"a node that is down":  {func(w http.ResponseWriter) { reason(w, "595 No route to host") }, "unknown", "-", "595 No route to host"},
		"a node that hangs":    {func(w http.ResponseWriter) { reason(w, "596 Connection timed out") }, "unknown", "-", "does not answer"},
		"a gateway's time-out": {func(w http.ResponseWriter) { answer(w, 504, "<html>"+theSecret) }, "unknown", "-", "504"},
		"too many":             {func(w http.ResponseWriter) { reason(w, "429 Too Many Requests") }, "busy", "busy", ""},
		"a web page": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<html>"+theSecret)
		}, "unknown", "-", "is a web page"},
		"text": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, `{"data":null}`)
		}, "unknown", "-", "is no JSON"},
		"no data":        {func(w http.ResponseWriter) { answer(w, 200, `{"success":1}`) }, "unknown", "-", "has no \"data\""},
		"a list":         {func(w http.ResponseWriter) { answer(w, 200, `[]`) }, "unknown", "-", "broken JSON, or no object"},
		"nothing":        {func(w http.ResponseWriter) { answer(w, 200, ``) }, "unknown", "-", "is empty"},
		"done and wrong": {func(w http.ResponseWriter) { answer(w, 200, `{"data":null,"errors":{"cidr":"no"}}`) }, "unknown", "-", "both done and wrong"},
		"half an answer": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			answer(w, 200, `{"data":[`)
		}, "unknown", "-", "before the answer was whole"},
		"half of JSON":          {func(w http.ResponseWriter) { answer(w, 200, `{"data":[{"cidr":"19`) }, "unknown", "-", "broken JSON"},
		"an endless answer":     {func(w http.ResponseWriter) { endless(w) }, "unknown", "-", "over 32 MiB"},
		"a reset":               {reset, "unknown", "-", "closed before the answer"},
		"an echo":               {func(w http.ResponseWriter) { answer(w, 500, message("no: PVEAPIToken=homeward@pve!test="+theSecret)) }, "unknown", "-", "[secret]"},
		"an echo, by parameter": {func(w http.ResponseWriter) { answer(w, 400, parameter(theSecret, theSecret)) }, "refused", "refused", "[secret]"},
		"an echo in the status": {func(w http.ResponseWriter) { reason(w, "500 "+theSecret) }, "unknown", "-", "[secret]"},
		"control characters":    {func(w http.ResponseWriter) { answer(w, 500, message("a\x1b[2Jb\nc\u2028d")) }, "unknown", "-", "a [2Jb c d"},
		"a redirect":            {func(w http.ResponseWriter) { w.Header().Set("Location", "https://evil.example/"); w.WriteHeader(302) }, "unknown", "-", "(evil.example)"},
		"a redirect to repeat":  {func(w http.ResponseWriter) { w.Header().Set("Location", "https://evil.example/"); w.WriteHeader(307) }, "refused", "refused", "must not follow"},
		"a wrong type":          {func(w http.ResponseWriter) { answer(w, 200, `{"data":{"cidr":7}}`) }, "done", "-", "another type"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) { c.handler(w) })
			client := s.client(t, func(o *Options) { o.Timeout = time.Minute })
			var out []member
			writeErr := client.Post(t.Context(), "/x", url.Values{"cidr": {"192.0.2.1"}}, nil)
			readErr := client.Get(t.Context(), "/x", nil, &out)
			for what, got := range map[string][3]string{"write": {class(writeErr), c.write}, "read": {class(readErr), c.read}} {
				if got[0] != got[1] {
					t.Errorf("%s: %s, want %s", what, got[0], got[1])
				}
			}
			for _, err := range []error{writeErr, readErr} {
				if err == nil {
					continue
				}
				s.say(err.Error())
				if c.text != "" && !strings.Contains(err.Error(), c.text) && !errors.Is(err, ErrNoData) {
					t.Errorf("%q does not say %q", err, c.text)
				}
				if strings.ContainsAny(err.Error(), "\n\x1b") {
					t.Errorf("%q has control characters", err)
				}
			}
		})
	}
}

// endless sends more than is read.
func endless(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	block := bytes.Repeat([]byte("a"), 1<<20)
	for range maxAnswer>>20 + 1 {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func TestAWaitThatEnds(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { <-release })
	defer close(release)
	t.Run("by its own time-out", func(t *testing.T) {
		client := s.client(t, func(o *Options) { o.Timeout = 50 * time.Millisecond })
		if err := client.Post(t.Context(), "/x", nil, nil); class(err) != "unknown" || !strings.Contains(err.Error(), "no answer within 50ms") {
			t.Errorf("write: %v", err)
		}
		if err := client.Get(t.Context(), "/x", nil, nil); class(err) != "-" {
			t.Errorf("read: %v", err)
		}
	})
	t.Run("by the context", func(t *testing.T) {
		client := s.client(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := client.Put(ctx, "/x", nil, nil)
		if class(err) != "unknown" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("write: %v", err)
		}
	})
	t.Run("before it was sent", func(t *testing.T) {
		client := s.client(t, func(o *Options) { o.InFlight = 1; o.Timeout = time.Second })
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		go client.Get(t.Context(), "/x", nil, nil)
		for len(client.slots) == 0 {
			time.Sleep(time.Millisecond)
		}
		err := client.Put(ctx, "/x", nil, nil)
		if class(err) != "-" || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "was not sent") {
			t.Errorf("write: %v", err)
		}
	})
}

func TestRequestsInFlight(t *testing.T) {
	arrived, release := make(chan struct{}, 100), make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-release
		answer(w, 200, `{"data":null}`)
	})
	client := s.client(t, func(o *Options) { o.InFlight = 3; o.Timeout = time.Minute })
	done := make(chan error)
	for range 10 {
		go func() { done <- client.Post(context.Background(), "/x", nil, nil) }()
	}
	for range 3 {
		<-arrived
	}
	select {
	case <-arrived:
		t.Error("a fourth request is under way")
	case <-time.After(100 * time.Millisecond):
	}
	close(release)
	for range 10 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
