package talosgen

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"homeward/netplan"
)

// FuzzAnyPlan makes a valid plan out of a number and wants documents that Talos
// loads, merges and validates, for the role of every machine in it.
func FuzzAnyPlan(f *testing.F) {
	for seed := range uint64(24) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		p := anyPlan(rand.New(rand.NewPCG(seed, 7)))
		r, err := NewRenderer(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []netplan.Machine{p.Machines[0], p.Machines[len(p.Machines)-1]} {
			patch, err := r.MachinePatch(m, pod(p, m))
			if err != nil {
				t.Fatal(err)
			}
			plain := base(t, m.Role, "v1.13", 0)
			validate(t, apply(t, plain, patch))
			once := complete(t, plain, p, m)
			if twice := complete(t, once, p, m); string(once) != string(twice) {
				t.Fatalf("twice is not once:\n%s\n%s", once, twice)
			}
		}
	})
}

// anyPlan combines the layouts at random, with random numbers and MACs.
func anyPlan(r *rand.Rand) *netplan.Plan {
	p := fixture()
	chance := func(change func(*netplan.Plan)) {
		if r.IntN(3) == 0 {
			change(p)
		}
	}
	for _, change := range opts(noPool, static, isolated, gatewayOnLink, largeMTU, externalAddresses, firewall, allowlists, batchPool) {
		chance(change)
	}
	for i := range p.Machines {
		for b := 1; b < 6; b++ {
			p.Machines[i].MACs.Cluster[b] = byte(r.Uint32())
			if p.Machines[i].External {
				p.Machines[i].MACs.External[b] = byte(r.Uint32())
			}
		}
	}
	bit := netplan.Mark(1) << r.IntN(32)
	first := netplan.Priority(101 + r.IntN(31000))
	p.ReturnPath.Mark, p.ReturnPath.Mask, p.ReturnPath.Table = bit, netplan.Mask(bit), netplan.TableID(1+r.IntN(252))
	p.ReturnPath.Priorities = netplan.Priorities{VIP: first, Mark: first + 1, VIPUnreachable: first + 10, MarkUnreachable: first + 11}
	switch r.IntN(4) {
	case 0:
		privateVIP(p)
	case 1:
		endpointOnly(p)
	case 2:
		privateVIP(p)
		noExternal(p)
	}
	chance(noWorkers)
	if p.External != nil && r.IntN(2) == 0 {
		p.External.AnchorCIDR = netip.MustParsePrefix("169.254.64.0/18")
	}
	return p
}

// FuzzComplete wants that no base whatever makes Complete panic, and that what it
// accepts is stable.
func FuzzComplete(f *testing.F) {
	p := fixture()
	m := machine(p, "worker-01")
	plain := base(f, m.Role, "v1.13", 0)
	f.Add(plain)
	f.Add(complete(f, plain, p, m))
	f.Add([]byte("machine: {type: worker}\n--- # again\na: &x {b: *x}\n...\n---\n- 1\n"))
	f.Add([]byte("machine: &m {type: worker, certSANs: null, pods: [*m, 1, {metadata: 2}]}\n"))
	f.Add([]byte("machine: {type: worker, network: {interfaces: 7}, nodeLabels: []}\n---\nkind: LinkAliasConfig\nname: private\n"))
	f.Add([]byte("---\r\nmachine:\r\n  type: worker # here\r\n\r\n# end\r\n---\r\nkind: HostnameConfig\r\napiVersion: v1alpha1\r\nhostname: *no\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		once, err := Complete(text, p, m, pod(p, m))
		if err != nil {
			return
		}
		twice, err := Complete(once, p, m, pod(p, m))
		if err != nil {
			t.Fatalf("accepted once, then: %v\n%s", err, once)
		}
		if string(once) != string(twice) {
			t.Fatalf("twice is not once:\n%s\n%s", once, twice)
		}
	})
}

// FuzzShapeOf wants an answer to any text, the same with and without the v.
func FuzzShapeOf(f *testing.F) {
	for _, version := range []string{"v1.13.9", "1.14.0-alpha.1", "v2.0", "v1.x", "", "v99999.1"} {
		f.Add(version)
	}
	f.Fuzz(func(t *testing.T, version string) {
		a, errA := ShapeOf(version)
		b, errB := ShapeOf("v" + version)
		if errA == nil && version[0] != 'v' && (errB != nil || a != b) {
			t.Errorf("%q: %v, with v: %v %v", version, a, b, errB)
		}
	})
}
