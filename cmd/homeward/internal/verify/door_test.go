package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// The handshakes are real: with a listener, with a port where nobody listens, and with
// a server of another sort.
func TestHandshakes(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	open := netip.MustParseAddrPort(listener.Addr().String())
	s := quiet(t)
	s.Services.Value, s.Knocks.Value = nil, nil
	addService(t, s, "default", "open", fmt.Sprintf(`{"type": "LoadBalancer", "ports": [{"port": %d}, {"port": 9, "protocol": "UDP"}]}`, open.Port()), "127.0.0.1")
	addService(t, s, "default", "closed", `{"type": "LoadBalancer", "ports": [{"port": 1, "protocol": "TCP"}]}`, "127.0.0.1")
	got := knock(t.Context(), s)
	if got.Err != nil || len(got.Value) != 2 {
		t.Fatalf("%+v", got)
	}
	closed, opened := got.Value[0], got.Value[1] // by name
	// On a busy machine some attempts cannot be judged.
	if opened.Target != open || opened.Attempts != knocksEach || opened.Answered == 0 || opened.Refused {
		t.Errorf("open: %+v", opened)
	}
	if closed.Answered != 0 || !closed.Refused || closed.Causes == "" || closed.Service.Name != "closed" {
		t.Errorf("closed: %+v", closed)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := knock(ctx, s); got.Err == nil {
		t.Error("a run that was ended says nothing of it")
	}
}

func TestDoors(t *testing.T) {
	a := &api{t: t, lists: map[string][]json.RawMessage{}}
	client := a.serve(patient)
	stranger := httptest.NewTLSServer(http.NotFoundHandler())
	defer stranger.Close()
	// httptest's servers all have one certificate: this one has another.
	p := certificateKeyPair(t, "127.0.0.1")
	stranger.TLS.Certificates[0] = p
	plainServer := httptest.NewServer(http.NotFoundHandler())
	defer plainServer.Close()
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for name, test := range map[string]struct {
		address   string
		cause     DoorCause
		untrusted bool
	}{
		"ours":         {strings.TrimPrefix(client.Server(), "https://"), "", false},
		"another's":    {stranger.Listener.Addr().String(), "", true},
		"no TLS":       {plainServer.Listener.Addr().String(), DoorNoTLS, false},
		"nobody":       {"127.0.0.1:1", DoorRefused, false},
		"silent":       {silent.Addr().String(), DoorTimeout, false},
		"no such name": {"none.invalid:6443", DoorNoWay, false},
		"no port":      {"127.0.0.1", DoorNoWay, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := Door{Address: test.address}
			timeout := patient
			if test.cause == DoorTimeout {
				timeout = 300 * time.Millisecond
			}
			d.open(t.Context(), Options{Client: client, Timeout: timeout, Now: time.Now})
			// Where there is no resolver it takes its time to say so.
			if d.Cause != test.cause && !(name == "no such name" && d.Cause == DoorTimeout) || (d.Certificate != nil) != (test.cause == "") || (d.Untrusted != "") != test.untrusted {
				t.Errorf("%+v", d)
			}
		})
	}
}

// A loopback address has no route in the kernel's table of links, and a name none at all.
func TestNoDoorIsNearByMistake(t *testing.T) {
	doors := []Door{{Address: "127.0.0.1:6443"}, {Address: "127.0.0.1:6443"}, {Address: "api.example.edu:6443"}}
	noteNear(doors)
	for _, d := range doors {
		if d.OnLink {
			t.Errorf("%+v", d)
		}
	}
}

func TestPlannedDoors(t *testing.T) {
	const vip, noVIP, head = "kubeapi_vip: 203.0.113.79", "mtu: 1500", "agent: {"
	for name, test := range map[string]struct {
		edits []string
		want  string
	}{
		"the VIP":             {nil, "203.0.113.79:6443"},
		"VIP and endpoint":    {[]string{head, "kubeapi_endpoint: api.example.edu\n" + head}, "203.0.113.79:6443 api.example.edu:6443"},
		"endpoint":            {[]string{vip, noVIP, head, "kubeapi_endpoint: 'https://api.example.edu:443'\n" + head}, "api.example.edu:443"},
		"endpoint is the VIP": {[]string{head, "kubeapi_endpoint: 203.0.113.79\n" + head}, "203.0.113.79:6443"},
	} {
		var got []string
		for _, d := range plannedDoors(planOf(t, test.edits...)) {
			got = append(got, d.Address)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestAgentsAreAskedForTheirVersion(t *testing.T) {
	for text, want := range map[string]string{
		"homeward_build_info{go_version=\"go1.26\",version=\"v1.2.3\"} 1\n":                 "v1.2.3",
		"# HELP x\nhomeward_ready 1\nhomeward_build_info{version=\"v1\",go_version=\"\"} 1": "v1",
		"homeward_build_info{go_version=\"version=\\\"x\"} 1":                               "",
		"<html>": "", "": "",
	} {
		got, err := parseMetrics(strings.NewReader(text))
		if got.Version != want || (err == nil) != (want != "") {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	s := healthy(t, shapes["private metrics"]...)
	for i := range s.Nodes.Value { // nobody is there
		s.Nodes.Value[i].Status.Addresses[1].Address = "127.0.0.1"
	}
	readAgents(t.Context(), Options{Timeout: patient}, s)
	if len(s.Agents) != 0 {
		t.Errorf("%v", s.Agents)
	}
	if got := privateAddress(s.Plan, s.Plan.Machines[w1], &healthy(t).Nodes.Value[w1]); got.String() != "10.0.0.13" {
		t.Errorf("the node's address is %s", got)
	}
}
