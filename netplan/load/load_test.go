package load

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"homeward/netplan"
)

// read gives a file of testdata.
func read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// with replaces a part of a file that must be in it.
func with(t testing.TB, file, old, new string) string {
	t.Helper()
	if !strings.Contains(file, old) {
		t.Fatalf("no %q in the file", old)
	}
	return strings.Replace(file, old, new, 1)
}

// mistakes loads a text and gives its faults as "LINE: PATH: MESSAGE".
func mistakes(t testing.TB, file string) []string {
	t.Helper()
	_, err := Bytes("cluster.yaml", []byte(file))
	if err == nil {
		return nil
	}
	var faults *Faults
	if !errors.As(err, &faults) {
		t.Fatalf("error is %T, not *Faults: %v", err, err)
	}
	var out []string
	for _, l := range faults.List {
		out = append(out, fmt.Sprintf("%d: %s: %s", l.Line, l.Path, l.Message))
	}
	return out
}

func mustLoad(t testing.TB, file string) *Result {
	t.Helper()
	r, err := Bytes("cluster.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// samePlan compares plans without their warnings, whose lines differ.
func samePlan(a, b *netplan.Plan) string {
	return cmp.Diff(a, b, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}, netplan.Range{}), cmpopts.IgnoreFields(netplan.Plan{}, "Warnings"))
}

func TestBothLayoutsGiveTheSamePlan(t *testing.T) {
	a, b := mustLoad(t, read(t, "seed.yaml")), mustLoad(t, read(t, "moved.yaml"))
	if diff := samePlan(a.Plan, b.Plan); diff != "" {
		t.Error(diff)
	}
	if got := a.Plan.External.Segment; got != (netplan.Segment{Bridge: "vmbr0", VLAN: 1691}) {
		t.Errorf("external segment is %v", got)
	}
}

func TestEveryKeyArrives(t *testing.T) {
	p := mustLoad(t, read(t, "full.yaml")).Plan
	worker := p.Machines[len(p.Machines)-3]
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"pod_cidr", p.Kubernetes.PodCIDR.String(), "10.245.0.0/16"},
		{"kube_proxy_replacement", p.Kubernetes.KubeProxyReplacement, true},
		{"firewall", p.Talos.Firewall, true},
		{"cluster segment", p.Cluster.Segment, netplan.Segment{VNet: "private", VLAN: 7}},
		{"cluster mtu", p.Cluster.MTU, 9000},
		{"external vlan from text", p.External.VLAN, netplan.VLAN(1691)},
		{"gateway outside the link", p.External.Gateway.String(), "203.0.114.1"},
		{"pool", len(p.External.IngressAddresses), 9},
		{"reserved as one value", p.External.Reserved.Count(), 1},
		{"mark", p.ReturnPath.Mark, netplan.Mark(0x2000)},
		{"table", p.ReturnPath.Table, netplan.TableID(250)},
		{"priority", p.ReturnPath.Priorities.VIP, netplan.Priority(900)},
		{"ingress", p.Ingress.ExternalTrafficPolicy + " " + p.Ingress.Pin + " " + p.Ingress.Interface, "Local annotation ens19"},
		{"argocd", p.ArgoCD, netplan.ArgoCD{IngressClass: "nginx"}},
		{"agent", p.Agent.Metrics, "private"},
		{"endpoint", p.KubeAPI.Endpoint, "https://api.example.edu:6443"},
		{"security", len(p.Security), 3},
		{"security hosts", len(p.Security[1].Hosts), 3},
		{"machine", fmt.Sprintf("%s %d %s %s %s %s", worker.Name, worker.VMID, worker.MACs.Cluster, worker.MACs.External, worker.Address, worker.Anchor),
			"edge-worker-01 201 bc:24:11:00:00:01 bc:24:11:00:00:02 10.0.0.61 169.254.32.9"},
		{"pool without the NIC", p.Machines[3].Pool + fmt.Sprint(p.Machines[3].External), "batchfalse"},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestKeysOfOtherToolsAreListed(t *testing.T) {
	r := mustLoad(t, read(t, "shared.yaml"))
	var got []string
	for _, k := range r.Unused {
		got = append(got, fmt.Sprintf("%d %s", k.Line, k.Path))
	}
	want := strings.Fields(`2 tags|5 talos.extensions|7 controlplane.cores|7 controlplane.memory|7 controlplane.disk
		|9 workers.worker.cores|9 workers.worker.memory|9 workers.worker.disk|9 workers.worker.tags
		|10 workers.gpu.cores|10 workers.gpu.memory|10 workers.gpu.disk|10 workers.gpu.node|14 network.ntp
		|17 proxmox.storage|18 proxmox.iso_storage|19 proxmox.cidata_storage|20 proxmox.placement_strategy|21 proxmox.nodes
		|37 argocd.admins|40 tailscale|41 charts`)
	if diff := cmp.Diff(strings.Split(strings.Join(want, " "), "|"), got, cmpopts.IgnoreSliceElements(func(s string) bool { return s == "" }), trimmed()); diff != "" {
		t.Error(diff)
	}
}

func trimmed() cmp.Option {
	return cmp.Comparer(func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) })
}

func TestFile(t *testing.T) {
	t.Run("loads", func(t *testing.T) {
		if _, err := File(filepath.Join("testdata", "seed.yaml")); err != nil {
			t.Error(err)
		}
	})
	t.Run("names the file in every line", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "cluster.yaml")
		if err := os.WriteFile(path, []byte("name: edge\nnetwork: {cidr: x}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := File(path)
		lines := strings.Split(fmt.Sprint(err), "\n")
		want := path + `:2: network.cidr: "x" is not an IPv4 network: give it like 203.0.113.0/25`
		if got := lines[len(lines)-1]; got != want {
			t.Errorf("last line is %q, want %q", got, want)
		}
	})
	t.Run("missing", func(t *testing.T) {
		if _, err := File(filepath.Join(t.TempDir(), "no.yaml")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("directory", func(t *testing.T) {
		var faults *Faults
		if _, err := File(t.TempDir()); err == nil || errors.As(err, &faults) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("endless", func(t *testing.T) {
		if _, err := File("/dev/zero"); err == nil || !strings.Contains(err.Error(), "over 4 MiB") {
			t.Errorf("got %v", err)
		}
	})
}
