package gitops_test

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

var update = flag.Bool("update", false, "write the golden files anew")

// seedPlan is the Proxmox plan of the load-balancing page: three control planes
// and three workers, all with both NICs.
func seedPlan(t *testing.T) *netplan.Plan {
	t.Helper()
	return &netplan.Plan{
		Name:     "edge",
		Provider: netplan.Proxmox,
		External: &netplan.External{
			Segment:     netplan.Segment{Bridge: "vmbr0", VLAN: 1691},
			CIDR:        netip.MustParsePrefix("203.0.113.0/25"),
			Gateway:     netip.MustParseAddr("203.0.113.1"),
			MTU:         1500,
			IngressPool: pool(t, "203.0.113.75-203.0.113.78"),
		},
		Ingress: netplan.Ingress{Class: "traefik", Pin: netplan.PinLoadBalancerIP, ExternalTrafficPolicy: "Cluster"},
		ArgoCD:  netplan.ArgoCD{MetalLBEnabled: true, IngressEnabled: true, IngressClass: "traefik"},
		Machines: []netplan.Machine{
			{Name: "edge-controlplane-01", Role: netplan.RoleControlPlane, Pool: "controlplane", External: true},
			{Name: "edge-worker-01", Role: netplan.RoleWorker, Pool: "worker", External: true, Announces: true},
		},
	}
}

func pool(t *testing.T, ranges ...string) netplan.AddressSet {
	t.Helper()
	var set netplan.AddressSet
	for _, s := range ranges {
		r, err := netplan.ParseRange(s)
		if err != nil {
			t.Fatalf("parsing range %s: %v", s, err)
		}
		set = append(set, r)
	}
	return set
}

// plans are the shapes whose objects differ.
func plans(t *testing.T) map[string]*netplan.Plan {
	t.Helper()
	all := map[string]*netplan.Plan{"seed": seedPlan(t)}
	change := func(name string, f func(*netplan.Plan)) {
		p := seedPlan(t)
		f(p)
		all[name] = p
	}
	change("some-without-external", func(p *netplan.Plan) {
		p.Machines = append(p.Machines, netplan.Machine{Name: "edge-batch-01", Role: netplan.RoleWorker, Pool: "batch"})
	})
	change("interface-named", func(p *netplan.Plan) { p.Ingress.Interface = "ens19" })
	change("several-ranges", func(p *netplan.Plan) {
		p.External.IngressPool = pool(t, "203.0.113.10", "203.0.113.16/30", "203.0.113.75 - 203.0.113.78")
	})
	change("pinned", func(p *netplan.Plan) {
		p.Ingress.Address = netip.MustParseAddr("203.0.113.75")
		p.Ingress.ExternalTrafficPolicy = "Local"
	})
	change("pinned-by-annotation", func(p *netplan.Plan) {
		p.Ingress.Address = netip.MustParseAddr("203.0.113.75")
		p.Ingress.Pin = netplan.PinAnnotation
	})
	change("no-pool", func(p *netplan.Plan) { p.External.IngressPool = nil })
	change("no-external", func(p *netplan.Plan) { p.External = nil })
	change("other-class-argocd-off", func(p *netplan.Plan) {
		p.Ingress.Class = "public"
		p.ArgoCD = netplan.ArgoCD{IngressClass: "public"}
	})
	all["openstack"] = allocated(t, cloudPlan(t))
	return all
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}
