package verify

import (
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"homeward/agent/ledger/inventory"
	"homeward/cmd/homeward/internal/reservation"
)

func TestVersions(t *testing.T) {
	const private = "v1.2.3\", metrics: private"
	judge(t, "versions", []planted{
		{name: "as planned", want: Pass, seen: "kubelet v1.36.3 on 4 nodes"},
		{name: "the API server is newer", want: Warn, seen: "the API server is v1.37.0, the plan has kubernetes.version v1.36.3", change: func(_ *testing.T, s *Snapshot) { s.Version.Value.GitVersion = "v1.37.0" }},
		{name: "a kubelet is older", want: Warn, seen: "kubelet v1.35.1 on edge-worker-01, the plan has", change: func(_ *testing.T, s *Snapshot) { s.Nodes.Value[w1].Status.NodeInfo.KubeletVersion = "v1.35.1" }},
		{name: "Talos is older", want: Warn, seen: "Talos v1.13.8 on edge-worker-01, the plan has talos.version v1.13.9", change: func(_ *testing.T, s *Snapshot) { s.Nodes.Value[w1].Status.NodeInfo.OSImage = "Talos (v1.13.8)" }},
		{name: "no Talos", want: Pass, seen: "Talos: not told by edge-worker-01", change: func(_ *testing.T, s *Snapshot) { s.Nodes.Value[w1].Status.NodeInfo.OSImage = "Debian" }},
		{name: "the image is of an older tool", want: Warn, seen: "the plan's agent image is tagged v1.2.3, and this tool is v1.3.0", remedy: "homeward image push registry.example.edu/homeward-agent:v1.3.0", change: func(_ *testing.T, s *Snapshot) { s.Tool = "v1.3.0" }},
		{name: "the tool is of no release", want: Pass, change: func(_ *testing.T, s *Snapshot) { s.Tool = "v1.3.0-5-gabcdef" }},
		{name: "the tag has moved", want: Warn, seen: "sha256:2 on edge-worker-01", remedy: "by its digest", change: func(_ *testing.T, s *Snapshot) {
			s.ReturnPath.Value[w1].Status.ContainerStatuses[0].ImageID = "registry.example.edu/homeward-agent@sha256:2"
		}},
		{name: "an agent says it is older", want: Warn, seen: "agent v1.2.2 on edge-worker-01, and this tool is v1.2.3", edits: []string{"v1.2.3\"", private}, change: func(_ *testing.T, s *Snapshot) {
			s.Agents = map[string]AgentInfo{"edge-worker-01": {"v1.2.2"}, "edge-worker-02": {"v1.2.3"}}
		}},
		{name: "agents say what they are", want: Pass, seen: "agent v1.2.3 on 2 machines", edits: []string{"v1.2.3\"", private}, change: func(_ *testing.T, s *Snapshot) {
			s.Agents = map[string]AgentInfo{"edge-worker-01": {"v1.2.3"}, "edge-worker-02": {"v1.2.3"}}
		}},
	})
	if f := findingOf(t, Check(healthy(t), nil), "versions"); !strings.Contains(f.Unseen, "agent.metrics: private") {
		t.Errorf("unseen: %q", f.Unseen)
	}
	for image, want := range map[string]string{"r:5000/a": "r:5000/a", "r:5000/a:v1": "r:5000/a", "r/a@sha256:1": "r/a", "r/a:v1@sha256:1": "r/a"} {
		if got := repository(image); got != want {
			t.Errorf("the repository of %s is %s", image, got)
		}
	}
}

func TestGeneratedFiles(t *testing.T) {
	judge(t, "generated-files", []planted{
		{name: "as planned", want: Pass, seen: "out is what this plan makes, in format 1"},
		{name: "none", want: Skipped, change: func(_ *testing.T, s *Snapshot) { s.Files.There = false }},
		{name: "of an older plan", want: Warn, seen: "2 files of out are not what this plan makes: a, b", remedy: "homeward generate -f cluster.yaml --out out --diff", change: func(_ *testing.T, s *Snapshot) { s.Files.Differ = []string{"a", "b"} }},
		{name: "of a newer Homeward", want: Warn, seen: "out has format 9, and this tool makes 1", change: func(_ *testing.T, s *Snapshot) { s.Files.Format = 9 }},
	})
}

func TestKubeProxy(t *testing.T) {
	args := func(list string) func(*testing.T, *Snapshot) {
		return func(t *testing.T, s *Snapshot) {
			s.Proxy.Value.KubeProxy = decode[*appsv1.DaemonSet](t, `{"spec": {"template": {"spec": {"containers": [{"command": ["kube-proxy", `+list+`]}]}}}}`)
		}
	}
	config := func(text string) func(*testing.T, *Snapshot) {
		return func(t *testing.T, s *Snapshot) {
			args(`"--config=/var/lib/kube-proxy/config.conf"`)(t, s)
			s.Proxy.Value.KubeProxyConfig = &corev1.ConfigMap{Data: map[string]string{"config.conf": text, "kubeconfig.conf": "kind: Config"}}
		}
	}
	cilium := func(value string) func(*testing.T, *Snapshot) {
		return func(_ *testing.T, s *Snapshot) {
			s.Proxy.Value.Cilium = &appsv1.DaemonSet{}
			s.Proxy.Value.CiliumConfig = &corev1.ConfigMap{Data: map[string]string{"kube-proxy-replacement": value}}
		}
	}
	alone := func(change func(*testing.T, *Snapshot)) func(*testing.T, *Snapshot) {
		return func(t *testing.T, s *Snapshot) {
			change(t, s)
			s.Proxy.Value.KubeProxy = nil
		}
	}
	const head = "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n"
	planned := []string{"v1.36.3}", "v1.36.3, cni: cilium}"}
	forced := []string{"v1.36.3}", "v1.36.3, cni: cilium, kube_proxy_replacement: true}\nreturn_path: {force: true}"}
	otherForced := []string{"v1.36.3}", "v1.36.3, cni: calico, kube_proxy_replacement: true}\nreturn_path: {force: true}"}
	judge(t, "kube-proxy", []planted{
		{name: "nftables by a flag", want: Pass, seen: "kube-proxy in mode nftables (its flags)"},
		{name: "nothing said", want: Pass, seen: "mode iptables (its flags, by default)", change: args(`"-v=2"`)},
		{name: "a flag in two words", want: Fail, seen: "ipvs without strictARP", change: args(`"--proxy-mode", "ipvs"`)},
		{name: "ipvs", want: Fail, seen: "every node answers ARP", remedy: "strictARP: true", change: args(`"--proxy-mode=ipvs"`)},
		{name: "ipvs with strictARP", want: Warn, seen: "tried with nftables and iptables only", change: args(`"--proxy-mode=ipvs", "--ipvs-strict-arp"`)},
		{name: "strictARP false", want: Fail, change: args(`"--proxy-mode=ipvs", "--ipvs-strict-arp=false"`)},
		{name: "a mode of tomorrow", want: Unknown, seen: `mode is "ebpf"`, change: args(`"--proxy-mode=ebpf"`)},
		{name: "by its file", want: Pass, seen: "nftables (ConfigMap kube-proxy)", change: config(head + "mode: nftables\n")},
		{name: "by its file, by default", want: Pass, seen: "iptables (ConfigMap kube-proxy, by default)", change: config(head + "mode: \"\"\n")},
		{name: "ipvs by its file", want: Fail, change: config(head + "mode: ipvs\nipvs: {strictARP: false}\n")},
		{name: "ipvs by its file, with strictARP", want: Warn, change: config(head + "mode: ipvs\nipvs: {strictARP: true}\n")},
		{name: "a file that is none", want: Unknown, change: config(head + "mode: [")},
		{name: "no file in the ConfigMap", want: Unknown, change: config("x")},
		{name: "no ConfigMap", want: Unknown, seen: "not in ConfigMap kube-proxy", change: args(`"--config=/etc/x"`)},
		{name: "not ready everywhere", want: Warn, seen: "ready on 3 of 4 nodes", change: func(_ *testing.T, s *Snapshot) {
			s.Proxy.Value.KubeProxy.Status = appsv1.DaemonSetStatus{NumberReady: 3, DesiredNumberScheduled: 4}
		}},
		{name: "nothing", want: Unknown, seen: "what forwards services is not known", change: alone(func(*testing.T, *Snapshot) {})},
		{name: "nothing, where the plan has forced a replacement", want: Warn, seen: "as the plan has forced, something else forwards", edits: otherForced, change: alone(func(*testing.T, *Snapshot) {})},
		{name: "nothing, where the plan has forced Cilium", want: Unknown, seen: "what forwards services is not known", edits: forced, change: alone(func(*testing.T, *Snapshot) {})},
		{name: "kube-proxy, where the plan has forced a replacement", want: Warn, seen: "kube-proxy runs, and the plan has", edits: otherForced},
		{name: "Cilium beside it", want: Pass, seen: "Cilium without kube-proxy replacement", edits: planned, change: cilium("false")},
		{name: "Cilium, not planned", want: Warn, seen: "Cilium runs, and the plan has kubernetes.cni flannel", change: cilium("false")},
		{name: "Cilium, planned and not there", want: Warn, seen: "there is no DaemonSet kube-system/cilium", edits: planned},
		{name: "Cilium instead", want: Fail, seen: "bypasses connection marks", remedy: "kubeProxyReplacement=false", edits: planned, change: alone(cilium("true"))},
		{name: "Cilium instead, in an old word", want: Fail, edits: planned, change: alone(cilium("strict"))},
		{name: "Cilium instead, forced", want: Warn, seen: "as the plan has forced", edits: forced, change: alone(cilium("true"))},
		{name: "Cilium in a word of tomorrow", want: Unknown, seen: `"maybe"`, edits: planned, change: alone(cilium("maybe"))},
		{name: "Cilium without its configuration", want: Unknown, edits: planned, change: func(t *testing.T, s *Snapshot) {
			cilium("false")(t, s)
			s.Proxy.Value.CiliumConfig = nil
		}},
	})
}

func TestAPIAddress(t *testing.T) {
	door := func(change func(*Door)) func(*testing.T, *Snapshot) {
		return func(_ *testing.T, s *Snapshot) { change(&s.Doors[0]) }
	}
	closed := func(cause DoorCause) func(*testing.T, *Snapshot) {
		return door(func(d *Door) { d.Certificate, d.Cause, d.Text = nil, cause, "dial tcp\x1b: x" })
	}
	const allow = "security: {kubernetes: {office: 192.0.2.0/24}}\nagent: {"
	judge(t, "api-address", []planted{
		{name: "as planned", want: Pass, seen: "the API's VIP (203.0.113.79:6443) answers"},
		{name: "on link", want: Warn, seen: "own segment, without a router", remedy: "behind the external router", change: door(func(d *Door) { d.OnLink = true })},
		{name: "on the private link, where it belongs", want: Pass, change: door(func(d *Door) { d.OnLink = true }),
			edits: []string{"      kubeapi_vip: 203.0.113.79\n", "", "{bridge: vmbr1}", "{bridge: vmbr1, kubeapi_vip: 10.0.0.240}"}},
		{name: "no answer", want: Fail, seen: "does not answer: no answer in time", remedy: "talosctl", change: closed(DoorTimeout)},
		{name: "no answer, and it lets in only some", want: Unknown, seen: "perhaps not this machine", edits: []string{"agent: {", allow}, change: closed(DoorTimeout)},
		{name: "refused, though it lets in only some", want: Fail, edits: []string{"agent: {", allow}, change: closed(DoorRefused)},
		{name: "nobody", want: Fail, seen: "nobody there has that address", change: closed(DoorNobody)},
		{name: "no way", want: Unknown, seen: "cannot be reached from here: dial tcp?: x", change: closed(DoorNoWay)},
		{name: "no TLS", want: Fail, seen: "is answered by something that is no API server", remedy: "homeward-agent host", change: closed(DoorNoTLS)},
		{name: "a certificate without the VIP", want: Fail, seen: "its certificate lacks 203.0.113.79", remedy: "homeward generate", change: func(t *testing.T, s *Snapshot) {
			s.Doors[0].Certificate = certificateFor(t, taken.Add(-time.Hour), taken.Add(time.Hour), "10.0.0.11")
		}},
		{name: "a certificate of another control plane without it", want: Fail, seen: "an API server (10.0.0.11:6443): its certificate lacks 203.0.113.79", change: func(t *testing.T, s *Snapshot) {
			s.Doors[1].Certificate = certificateFor(t, taken.Add(-time.Hour), taken.Add(time.Hour), "10.0.0.11")
		}},
		{name: "a control plane that cannot be asked", want: Pass, change: func(_ *testing.T, s *Snapshot) { s.Doors[1].Certificate, s.Doors[1].Cause = nil, DoorTimeout }},
		{name: "of another cluster", want: Fail, seen: "is not of this cluster: x509", change: door(func(d *Door) { d.Untrusted = "x509: who?" })},
		{name: "no authority", want: Unknown, seen: "names no authority", change: door(func(d *Door) { d.Untrusted = noAuthority })},
		{name: "over", want: Fail, seen: "its certificate ended on 2026-11-29", change: func(t *testing.T, s *Snapshot) {
			s.Doors[0].Certificate = certificateFor(t, taken.Add(-72*time.Hour), taken.Add(-24*time.Hour), "203.0.113.79")
		}},
		{name: "soon over", want: Warn, seen: "its certificate ends on 2026-12-02", change: func(t *testing.T, s *Snapshot) {
			s.Doors[0].Certificate = certificateFor(t, taken.Add(-300*24*time.Hour), taken.Add(48*time.Hour), "203.0.113.79")
		}},
		{name: "nothing asked", want: Unknown, change: func(_ *testing.T, s *Snapshot) { s.Doors = nil }},
	})
}

func TestAPIEndpoints(t *testing.T) {
	at := func(list ...string) func(*testing.T, *Snapshot) {
		return func(t *testing.T, s *Snapshot) { s.APIEndpoints.Value[0] = apiSlice(t, list...) }
	}
	both := []string{"10.0.0.11", "10.0.0.12"}
	split := func(t *testing.T, s *Snapshot) {
		s.APIEndpoints.Value = nil
		for _, a := range both {
			s.APIEndpoints.Value = append(s.APIEndpoints.Value, apiSlice(t, a), apiSlice(t, a))
		}
	}
	judge(t, "api-endpoints", []planted{
		{name: "as planned, in several slices", want: Pass, seen: "10.0.0.11:6443, 10.0.0.12:6443", change: split},
		{name: "the VIP", want: Fail, seen: "203.0.113.79:6443 is the API's VIP", change: at("203.0.113.79")},
		{name: "outside", want: Fail, seen: "192.0.2.1:6443 is outside the private network 10.0.0.0/24", change: at("192.0.2.1")},
		{name: "somebody else's", want: Warn, seen: "10.0.0.77:6443 is of no control plane of the plan", change: at("10.0.0.77", "10.0.0.12")},
		{name: "one of two", want: Warn, seen: "1 API server, and the plan has 2 control planes", change: at("10.0.0.11")},
		{name: "none", want: Unknown, change: func(_ *testing.T, s *Snapshot) { s.APIEndpoints.Value = nil }},
	})
}

func TestReservation(t *testing.T) {
	status := func(change func(*reservation.Status)) func(*testing.T, *Snapshot) {
		return func(_ *testing.T, s *Snapshot) { change(s.Reservation.Status) }
	}
	drift := []reservation.Drift{{Address: "203.0.113.76", Kind: reservation.Unclaimed, Message: "in the plan for ingress, and not claimed"}}
	judge(t, "reservation", []planted{
		{name: "as planned", want: Pass, seen: "1 address reserved for edge"},
		{name: "no token", want: Unknown, seen: "no token for Proxmox is given", remedy: "--allow-unknown reservation", change: func(_ *testing.T, s *Snapshot) { s.Reservation = Reservation{} }},
		{name: "no answer", want: Unknown, seen: "no such host", change: func(_ *testing.T, s *Snapshot) {
			s.Reservation = Reservation{Asked: true, Err: errors.New("no such host")}
		}},
		{name: "drift", want: Fail, seen: "203.0.113.76: in the plan for ingress, and not claimed", remedy: "homeward reserve -f cluster.yaml", change: status(func(s *reservation.Status) { s.Drift = drift })},
		{name: "taken", want: Fail, seen: "203.0.113.77 (ingress): VM 113", remedy: "give VM 113 another", change: status(func(s *reservation.Status) {
			s.Conflicts = []reservation.Taken{{Address: "203.0.113.77", For: "ingress", Source: "VM 113", Remedy: "give VM 113 another address"}}
		})},
		{name: "part unread", want: Unknown, seen: "pve2: it is down", remedy: "homeward status", change: status(func(s *reservation.Status) { s.Unread = []inventory.Unread{{Source: "pve2", Reason: "it is down"}} })},
		{name: "never reserved", want: Warn, seen: "nothing is reserved for this cluster", change: status(func(s *reservation.Status) {
			s.Owner.ID, s.Reservations, s.Drift = "", nil, drift
		})},
		{name: "guests differ", want: Warn, seen: "own guests differ", change: status(func(s *reservation.Status) {
			s.Guests = &reservation.GuestWork{Machines: []reservation.MachineWork{{Error: "x"}}}
		})},
	})
}
