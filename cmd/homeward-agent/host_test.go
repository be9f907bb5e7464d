//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"homeward/agent/segment"
	"homeward/netplan"
	"homeward/testenv/netlab"
)

// The segment of these tests, as planJSON has it.
var (
	segGateway = netip.MustParseAddr("203.0.113.1")
	segPool    = netip.MustParseAddr("203.0.113.75")
	segVIP     = netip.MustParseAddr("203.0.113.79")
	segWorker1 = net.HardwareAddr{0x02, 0, 0, 0, 0, 1}
	segWorker2 = net.HardwareAddr{0x02, 0, 0, 0, 0, 2}
)

// planJSON is as much of a plan.json as the segment needs.
func planJSON(t *testing.T) string {
	t.Helper()
	p := netplan.Plan{
		Name: "edge", Warnings: []netplan.Warning{},
		External: &netplan.External{
			Segment: netplan.Segment{Bridge: "vmbr0", VLAN: 1691}, CIDR: netip.MustParsePrefix("203.0.113.0/25"), Gateway: segGateway,
			IngressPool: netplan.AddressSet{{First: segPool, Last: netip.MustParseAddr("203.0.113.78")}},
		},
		KubeAPI: netplan.KubeAPI{VIP: segVIP, Link: netplan.LinkExternal},
		Machines: []netplan.Machine{
			{Name: "edge-worker-01", External: true, MACs: netplan.MACs{Cluster: netplan.MAC{2, 1, 0, 0, 0, 1}, External: netplan.MAC(segWorker1)}},
			{Name: "edge-worker-02", External: true, MACs: netplan.MACs{Cluster: netplan.MAC{2, 1, 0, 0, 0, 2}, External: netplan.MAC(segWorker2)}},
		},
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// site is a switch with a Proxmox host at it that has no address there.
type site struct {
	t           *testing.T
	plugs, host *netlab.Host
	plan        string
}

func newSite(t *testing.T) *site {
	t.Helper()
	netlab.Require(t)
	s := &site{t: t, plan: planJSON(t)}
	s.plugs = s.newHost("switch")
	s.do(s.plugs.AddBridge("br0"))
	s.host = s.join("pve1", nil)
	return s
}

func (s *site) do(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) newHost(name string) *netlab.Host {
	s.t.Helper()
	h, err := netlab.NewHost(name)
	s.do(err)
	s.t.Cleanup(func() { s.do(h.Close()) })
	return h
}

// join plugs a machine in, with a MAC of its own and addresses.
func (s *site) join(name string, mac net.HardwareAddr, addresses ...netip.Addr) *netlab.Host {
	s.t.Helper()
	h := s.newHost(name)
	s.do(netlab.Connect(h, "ext", s.plugs, name))
	s.do(s.plugs.Enslave(name, "br0"))
	if mac != nil {
		s.do(h.SetMAC("ext", mac))
	}
	for _, a := range addresses {
		s.do(h.AddAddress("ext", netip.PrefixFrom(a, 24)))
	}
	return h
}

// command is the agent on the Proxmox host.
func (s *site) command(flags ...string) *netlab.Cmd {
	s.t.Helper()
	self, err := os.Executable()
	s.do(err)
	cmd := s.host.Command(context.Background(), self, append([]string{"host", "--interface=ext", "--plan=" + s.plan}, flags...)...)
	cmd.Env = append(os.Environ(), envProgram+"=1")
	return cmd
}

// once runs the agent to its end.
func (s *site) once(flags ...string) (code int, out, log string) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := s.command(flags...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit code is what is looked at
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

func TestHostCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(s *site)
		code  int
		want  []string
	}{
		{"ours alone", func(s *site) {
			s.join("router", nil, segGateway)
			s.join("worker1", segWorker1, segPool)
		}, exitDone, []string{"02:00:00:00:00:01 (edge-worker-01)", "203.0.113.76-203.0.113.78  ingress  free", "203.0.113.1 answered, so what is silent is free"}},
		{"a stranger", func(s *site) {
			s.join("router", nil, segGateway)
			s.join("squatter", net.HardwareAddr{2, 0xbb, 0, 0, 0, 9}, segVIP)
		}, exitTaken, []string{"203.0.113.79               kubeapi  taken  02:bb:00:00:00:09 STRANGER"}},
		{"two of ours", func(s *site) {
			s.join("router", nil, segGateway)
			s.join("worker1", segWorker1, segPool)
			s.join("worker2", segWorker2, segPool)
		}, exitFailed, []string{"(edge-worker-01)", "(edge-worker-02)"}},
		{"no gateway", func(s *site) {
			s.join("worker1", segWorker1, segPool)
		}, exitUnknown, []string{"unknown", "Nothing is called free"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			c.build(s)
			code, out, log := s.once("--check")
			if code != c.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, c.code, out, log)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}

func TestHostOnceJSON(t *testing.T) {
	s := newSite(t)
	s.join("router", nil, segGateway)
	s.join("worker1", segWorker1, segPool)
	code, out, log := s.once("--once", "-o", "jsonl", "--addresses=203.0.113.90")
	if code != exitDone {
		t.Fatalf("exit code %d\n%s", code, log)
	}
	got := map[string]string{}
	for line := range strings.Lines(out) {
		var f finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if f.Kind == "summary" {
			var sum summary
			if err := json.Unmarshal([]byte(line), &sum); err != nil || !sum.Proven || sum.Witness != segGateway {
				t.Errorf("%s, error %v", line, err)
			}
			continue
		}
		got[f.Address.String()] = f.Use + " " + string(f.State)
	}
	for address, want := range map[string]string{
		"203.0.113.1": "gateway taken", "203.0.113.75": "ingress taken", "203.0.113.78": "ingress free",
		"203.0.113.79": "kubeapi free", "203.0.113.90": "asked free",
	} {
		if got[address] != want {
			t.Errorf("%s: %q, want %q", address, got[address], want)
		}
	}
}

// TestHostDocuments holds that -o json is one document with what the lines have.
func TestHostDocuments(t *testing.T) {
	s := newSite(t)
	s.join("router", nil, segGateway)
	code, out, log := s.once("--check", "-o", "json")
	var probed findings
	if err := json.Unmarshal([]byte(out), &probed); err != nil || code != exitDone {
		t.Fatalf("exit code %d, error %v\n%s%s", code, err, out, log)
	}
	if n := len(probed.Answers); n != 6 || probed.Answers[0].Address != segGateway || !probed.Summary.Proven {
		t.Errorf("%d answers:\n%s", n, out)
	}
	code, out, log = s.once("--dhcp-check", "-o", "json")
	var offered dhcpFindings
	if err := json.Unmarshal([]byte(out), &offered); err != nil || code != exitDone {
		t.Fatalf("exit code %d, error %v\n%s%s", code, err, out, log)
	}
	if offered.Offers == nil || !offered.Summary.Proven {
		t.Errorf("no list of offers, or no proof:\n%s", out)
	}
}

// watching is a running `host`.
type watching struct {
	s    *site
	cmd  *netlab.Cmd
	out  syncBuffer
	log  syncBuffer
	once sync.Once
	code int
}

func (s *site) watch(flags ...string) *watching {
	s.t.Helper()
	w := &watching{s: s, cmd: s.command(append([]string{"-o", "jsonl", "--listen=127.0.0.1:9466"}, flags...)...)}
	w.cmd.Stdout, w.cmd.Stderr = &w.out, &w.log
	s.do(w.cmd.Start())
	s.t.Cleanup(func() {
		w.end(os.Kill)
		if s.t.Failed() {
			s.t.Logf("output:\n%s\nlog:\n%s", &w.out, &w.log)
		}
	})
	return w
}

func (w *watching) end(sig os.Signal) int {
	w.once.Do(func() {
		_ = w.cmd.Process.Signal(sig)
		_ = w.cmd.Wait()
		w.code = w.cmd.ProcessState.ExitCode()
	})
	return w.code
}

// await waits for an event.
func (w *watching) await(what string, match func(segment.Event) bool) segment.Event {
	w.s.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for line := range strings.Lines(w.out.String()) {
			var e segment.Event
			if json.Unmarshal([]byte(line), &e) == nil && match(e) {
				return e
			}
		}
	}
	w.s.t.Fatalf("never: %s", what)
	return segment.Event{}
}

func (w *watching) scrape() string {
	w.s.t.Helper()
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return w.s.host.Dial(ctx, network, address)
		}}}
	r, err := client.Get("http://127.0.0.1:9466/metrics")
	w.s.do(err)
	defer r.Body.Close()
	var text bytes.Buffer
	_, err = text.ReadFrom(r.Body)
	w.s.do(err)
	return text.String()
}

func TestHostWatch(t *testing.T) {
	s := newSite(t)
	s.join("router", nil, segGateway)
	worker1 := s.join("worker1", segWorker1, segPool)
	worker2 := s.join("worker2", segWorker2)
	w := s.watch()
	w.await("worker 1 seen", func(e segment.Event) bool {
		return e.Kind == segment.Appeared && e.Address == segPool && e.Machine == "edge-worker-01"
	})
	// A fail-over: the speaker dies, another announces.
	s.do(worker1.SetDown("ext"))
	s.do(worker2.AddAddress("ext", netip.PrefixFrom(segPool, 24)))
	e := w.await("the take-over", func(e segment.Event) bool { return e.Kind == segment.TakenOver })
	if e.Machine != "edge-worker-02" || e.FromMachine != "edge-worker-01" || e.NotBefore.IsZero() || e.Time.Sub(e.NotBefore) > 3*time.Second {
		t.Errorf("%+v", e)
	}
	s.join("squatter", net.HardwareAddr{2, 0xbb, 0, 0, 0, 9}, segVIP)
	w.await("the stranger", func(e segment.Event) bool { return e.Kind == segment.Stranger && e.Address == segVIP })
	for _, want := range []string{
		`homeward_segment_address_strangers{address="203.0.113.79",use="kubeapi"} 1`,
		`homeward_segment_address_info{address="203.0.113.75",mac="02:00:00:00:00:02",machine="edge-worker-02",use="ingress"} 1`,
		"homeward_segment_path_proven 1", "homeward_segment_listening 1", `homeward_segment_events_total{kind="taken_over"} 1`,
	} {
		if page := w.scrape(); !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	if code := w.end(syscall.SIGTERM); code != exitDone {
		t.Errorf("exit code %d", code)
	}
}

// TestHostWatchOutlivesItsInterface takes the wire away and brings it back.
func TestHostWatchOutlivesItsInterface(t *testing.T) {
	s := newSite(t)
	s.join("router", nil, segGateway)
	w := s.watch()
	w.await("the path", func(e segment.Event) bool { return e.Kind == segment.PathProven })
	s.do(s.host.Delete("ext"))
	w.await("the path lost", func(e segment.Event) bool { return e.Kind == segment.PathLost })
	s.do(netlab.Connect(s.host, "ext", s.plugs, "pve1"))
	s.do(s.plugs.Enslave("pve1", "br0"))
	w.await("the path again", func(e segment.Event) bool {
		return e.Kind == segment.PathProven && strings.Count(w.out.String(), string(segment.PathProven)) == 2
	})
}

func TestHostSaysWhatIsMissing(t *testing.T) {
	s := newSite(t)
	for name, c := range map[string]struct {
		flags []string
		code  int
		want  string
	}{
		"no such interface":         {[]string{"--interface=none", "--once"}, exitUnknown, `finding interface \"none\": this host has none of that name" remedy="run it on a Proxmox host`},
		"no such bridge":            {[]string{"--interface=", "--check"}, exitUnknown, `finding bridge \"vmbr0\": this host has none of that name" remedy="run it on a Proxmox host`},
		"no offers from there":      {[]string{"--interface=none", "--dhcp-check"}, exitUnknown, "remedy="},
		"nothing to watch":          {[]string{"--interface=none"}, exitFailed, "remedy="},
		"an interface that is none": {[]string{"--interface=lo", "--check"}, exitUnknown, "carries no ARP"},
		"no plan there":             {[]string{"--plan=/nonexistent", "--once"}, exitUsage, "reading the plan"},
		"nothing to ask for":        {[]string{"--plan="}, exitUsage, "say which addresses to ask for"},
		"named twice":               {[]string{"--bridge=vmbr0"}, exitUsage, "twice"},
		"a VLAN that is none":       {[]string{"--interface=", "--bridge=vmbr0", "--vlan=4095"}, exitUsage, "4095 is not a VLAN"},
		"a bridge that is none":     {[]string{"--interface=", "--bridge=ext", "--vlan=7", "--once"}, exitUnknown, "ext is no Linux bridge"},
		"too many":                  {[]string{"--addresses=10.0.0.0/8"}, exitUsage, "more than can be asked for"},
		"a document of a watch":     {[]string{"-o", "json"}, exitUsage, "a watch has no end: give jsonl"},
		"two questions":             {[]string{"--check", "--dhcp-check"}, exitUsage, "ask one after the other"},
		"no output":                 {[]string{"-o", "xml"}, exitUsage, "none of table, json, jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, log := s.once(c.flags...)
			if code != c.code || !strings.Contains(log, c.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", code, c.code, c.want, out, log)
			}
		})
	}
}

// TestHostWithoutRights holds that a socket that is refused is a check that could not
// be read, with the right that was missing.
func TestHostWithoutRights(t *testing.T) {
	s := newSite(t)
	t.Setenv(envRights, "none")
	for _, flag := range []string{"--check", "--once", "--dhcp-check"} {
		t.Run(flag, func(t *testing.T) {
			code, out, log := s.once(flag)
			if code != exitUnknown || !strings.Contains(log, "run it as root on the Proxmox host, or give it CAP_NET_RAW") {
				t.Errorf("exit code %d, want %d and a remedy:\n%s%s", code, exitUnknown, out, log)
			}
		})
	}
}
