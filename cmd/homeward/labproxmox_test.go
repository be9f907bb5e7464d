//go:build linux

package main

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// labProxmox is a running `homeward lab proxmox`.
type labProxmox struct {
	cmd  *exec.Cmd
	done chan result
	env  map[string]string
}

// startLabProxmox starts one on a free port, and reads its lines as a shell would.
func startLabProxmox(t *testing.T, r *labRun, args ...string) *labProxmox {
	t.Helper()
	export := filepath.Join(r.temp, "lab's.env")
	p := &labProxmox{cmd: r.command(append([]string{"lab", "proxmox", "--listen", "127.0.0.1:0", "--export", export}, args...)...), done: make(chan result, 1)}
	go func() { p.done <- finish(t, p.cmd) }()
	waitFor(t, "the simulator", func() bool { _, err := os.Stat(export); return err == nil })
	p.env = shellEnv(t, `. "$1"`, export)
	return p
}

// shellEnv runs a script in a shell, and gives what it exports of ours.
func shellEnv(t *testing.T, script string, args ...string) map[string]string {
	t.Helper()
	out, err := exec.Command("sh", append([]string{"-euc", script + "; env", "sh"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && strings.HasPrefix(name, "HOMEWARD_") {
			env[name] = value
		}
	}
	return env
}

// try makes a request as the lines say.
func (p *labProxmox) try(method, path, form string) (status, body string, err error) {
	ca, err := os.ReadFile(p.env["HOMEWARD_PROXMOX_CA_FILE"])
	if err != nil {
		return "", "", err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequest(method, p.env["HOMEWARD_PROXMOX_URL"]+"/api2/json"+path, strings.NewReader(form))
	if err != nil {
		return "", "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "PVEAPIToken="+p.env["HOMEWARD_PROXMOX_TOKEN_ID"]+"="+p.env["HOMEWARD_PROXMOX_TOKEN_SECRET"])
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.Status, string(text), err
}

// call is try for requests that must be answered.
func (p *labProxmox) call(t *testing.T, method, path, form string) (status, body string) {
	t.Helper()
	status, body, err := p.try(method, path, form)
	if err != nil {
		t.Fatal(err)
	}
	return status, body
}

// end sends the signal, and wants a clean end without files of its own.
func (p *labProxmox) end(t *testing.T, r *labRun, signal syscall.Signal) result {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	got := <-p.done
	for _, name := range []string{p.env["HOMEWARD_PROXMOX_CA_FILE"], filepath.Join(r.temp, "lab's.env")} {
		if _, err := os.Stat(name); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	return got
}

func TestLabProxmoxKeepsItsState(t *testing.T) {
	r := newLabRun(t)
	file := filepath.Join(t.TempDir(), "it's state.json")
	for i, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := startLabProxmox(t, r, "--state", file)
		want := map[int]string{0: "200 OK", 1: "400 Parameter verification failed."}[i]
		if status, body := p.call(t, "POST", "/cluster/firewall/ipset", url.Values{"name": {"lab"}}.Encode()); status != want {
			t.Errorf("run %d: %s: %s, want %s", i, status, body, want)
		}
		got := p.end(t, r, signal)
		if got.code != 0 || got.err != "" || !strings.Contains(got.out, "export HOMEWARD_PROXMOX_URL='https://127.0.0.1:") {
			t.Errorf("run %d: %+v", i, got)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the state's file: %v %v", info, err)
	}
}

func TestLabProxmoxWarnsOfWhatItDoesNotKnow(t *testing.T) {
	r := newLabRun(t)
	p := startLabProxmox(t, r)
	if status, _ := p.call(t, "GET", "/cluster/ceph", ""); !strings.HasPrefix(status, "501 ") {
		t.Errorf("status %s", status)
	}
	if got := p.end(t, r, syscall.SIGTERM); got.err != "warning: the simulator does not know this request method=GET path=/cluster/ceph\n" {
		t.Errorf("stderr %q", got.err)
	}
}

// TestLabProxmoxInCommandSubstitution is the form that scripts will have first.
func TestLabProxmoxInCommandSubstitution(t *testing.T) {
	r := newLabRun(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sh := exec.Command("sh", "-euc", `eval "$("$0" lab proxmox --listen 127.0.0.1:0 --listen 127.0.0.1:0 &)"
		test -s "$HOMEWARD_PROXMOX_CA_FILE"; echo "$HOMEWARD_LAB_PROXMOX_URLS"; kill "$HOMEWARD_LAB_PROXMOX_PID"`, self)
	sh.Env = r.command().Env
	got := finish(t, sh)
	if got.code != 0 || got.err != "" || strings.Count(got.out, "https://127.0.0.1:") != 2 {
		t.Errorf("%+v", got)
	}
	waitFor(t, "the end", func() bool { return len(r.processes()) == 0 })
	waitFor(t, "its directory to go", func() bool { left, err := os.ReadDir(r.temp); return err == nil && len(left) == 0 })
}

func TestLabProxmoxMistakes(t *testing.T) {
	r := newLabRun(t)
	p := startLabProxmox(t, r)
	busy := strings.TrimPrefix(p.env["HOMEWARD_PROXMOX_URL"], "https://")
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(`{"kind":"something else"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		args []string
		code int
		text string
	}{
		{"port in use", []string{"--listen", busy}, 1, "another process listens there"},
		{"no address", []string{"--listen", "nowhere"}, 2, "missing port"},
		{"more endpoints than nodes", []string{"--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0"}, 2, "has 3 nodes"},
		{"another kind of file", []string{"--listen", "127.0.0.1:0", "--state", other}, 2, `its kind is "something else"`},
		{"a plan for a state", []string{"--listen", "127.0.0.1:0", "--state", planFile(t)}, 2, "it is no state of the Proxmox simulator: it is not a JSON object: give a file that the simulator wrote or that --example-state printed"},
		{"an unknown fault", []string{"--listen", "127.0.0.1:0", "--fault", "flood"}, 2, "--fault: no fault \"flood\": there are no-quorum, lock-timeout, lost-answer, lost-write, unavailable"},
		{"an unknown token", []string{"--listen", "127.0.0.1:0", "--token", "nobody@pve!x"}, 2, "--token: the state has no token \"nobody@pve!x\""},
		{"no directory for the state", []string{"--listen", "127.0.0.1:0", "--state", filepath.Join(r.temp, "none", "x")}, 2, "--state: "},
		{"no directory for the lines", []string{"--listen", "127.0.0.1:0", "--export", filepath.Join(r.temp, "none", "x")}, 2, "--export: "},
		{"no directory for the CA", []string{"--listen", "127.0.0.1:0", "--ca-file", filepath.Join(r.temp, "none", "x")}, 2, "--ca-file: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := r.run(append([]string{"lab", "proxmox"}, test.args...)...)
			if got.code != test.code || got.out != "" || !strings.Contains(got.err, test.text) {
				t.Errorf("%+v", got)
			}
		})
	}
	p.end(t, r, syscall.SIGTERM)
}

// TestLabProxmoxRealPace shows that a wrong token waits, and that nobody has to wait
// for it who ends the simulator.
func TestLabProxmoxRealPace(t *testing.T) {
	r := newLabRun(t)
	p := startLabProxmox(t, r, "--real-pace")
	p.env["HOMEWARD_PROXMOX_TOKEN_SECRET"] = "wrong"
	answered := make(chan string, 1)
	go func() {
		status, _, _ := p.try("GET", "/version", "") // the end may come before the answer
		answered <- status
	}()
	select {
	case status := <-answered:
		t.Errorf("answered at once: %s", status)
	case <-time.After(time.Second):
	}
	start := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := <-p.done; got.code != 0 || got.err != "" {
		t.Errorf("%+v after %v", got, time.Since(start))
	}
	<-answered
}

// TestLabProxmoxStateOfTwo shows that one of two on a file refuses to write.
func TestLabProxmoxStateOfTwo(t *testing.T) {
	r := newLabRun(t)
	file := filepath.Join(t.TempDir(), "state.json")
	p := startLabProxmox(t, r, "--state", file)
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _ := p.call(t, "POST", "/pools", "poolid=x"); !strings.HasPrefix(status, "500 somebody else has changed ") {
		t.Errorf("status %s", status)
	}
	p.end(t, r, syscall.SIGTERM)
	if text, err := os.ReadFile(file); err != nil || string(text) != "{}" {
		t.Errorf("the file is %q, %v", text, err)
	}
}
