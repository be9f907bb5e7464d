//go:build linux

package guest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"homeward/agent/returnpath"
	"homeward/testenv/vm/guest"
)

// agent is a running homeward-agent on the site's node.
type agent struct {
	t       *testing.T
	address string
	end     func()
	mu      sync.Mutex
	log     bytes.Buffer
}

// Write takes the agent's log.
func (a *agent) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.log.Write(p)
}

// startAgent starts the agent's own program. It owns rules and routes, since
// there is no Talos, and what it made is gone when the test ends.
func (s *site) startAgent(address, destinations string) *agent {
	s.t.Helper()
	a := &agent{t: s.t, address: address}
	cmd := exec.Command(guest.Agent, "node",
		"--external-mac="+guest.MAC(guest.External).String(), "--destinations="+destinations,
		"--cidr="+siteNetwork, "--gateway="+siteGateway, "--routes=manage", "--resync=1s", "--listen="+address)
	cmd.Stdout, cmd.Stderr = a, a
	must(s.t, cmd.Start())
	a.end = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(os.Interrupt) // an error means that it has ended
		_ = cmd.Wait()
	})
	s.t.Cleanup(func() {
		a.end()
		if s.t.Failed() {
			s.t.Logf("the agent of %s says:\n%s", a.address, &a.log)
		}
		run(s.t, guest.Agent+" cleanup --routes=manage")
	})
	return a
}

// node starts the agent for the site's service and waits until replies go home.
func (s *site) node() *agent {
	s.t.Helper()
	if s.answered(deafFor) {
		s.t.Fatal("the client is answered without an agent: this site shows nothing")
	}
	a := s.startAgent("127.0.0.1:9465", siteService)
	a.await("ready", ready)
	s.home()
	return a
}

// home holds that the client is answered.
func (s *site) home() {
	s.t.Helper()
	if !s.answered(heardWithin) {
		s.t.Errorf("the client behind the router is not answered")
	}
}

func (a *agent) get(path string) (code int, body []byte, err error) {
	r, err := http.Get("http://" + a.address + path)
	if err != nil {
		return 0, nil, err
	}
	defer r.Body.Close()
	body, err = io.ReadAll(r.Body)
	return r.StatusCode, body, err
}

// await waits until the agent's state is as told, and gives it.
func (a *agent) await(what string, ok func(returnpath.Status) bool) (s returnpath.Status) {
	a.t.Helper()
	for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		_, body, err := a.get("/state")
		if err != nil {
			continue // it does not listen yet
		}
		s = returnpath.Status{}
		must(a.t, json.Unmarshal(body, &s))
		if ok(s) {
			return s
		}
	}
	a.t.Fatalf("never %s: %+v", what, s)
	return s
}

func ready(s returnpath.Status) bool { return s.Ready && s.Gateway.Known }

// has says whether a problem of the kind stands.
func has(s returnpath.Status, kind returnpath.ProblemKind) bool {
	for _, p := range s.Problems {
		if p.Kind == kind {
			return true
		}
	}
	return false
}
