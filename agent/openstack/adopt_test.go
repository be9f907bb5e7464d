package openstack

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
	"homeward/netplan"
)

// floatingIPs names pre-allocated ones; an empty text leaves it to the cloud.
func floatingIPs(ingress, kubeapi string) func(*netplan.Spec) {
	return func(s *netplan.Spec) {
		o := *s.OpenStack
		if ingress != "" {
			o.IngressFloatingIP = addr(ingress)
		}
		if kubeapi != "" {
			o.KubeAPIFloatingIP = addr(kubeapi)
		}
		s.OpenStack = &o
	}
}

// allocated is a floating IP that the operator made beforehand.
func (w *world) allocated(address string) *FloatingIP {
	f := &FloatingIP{Object: w.new(Object{Description: "the web's", Tags: []string{"web"}}), Address: addr(address), NetworkID: externalA}
	w.floating[f.ID] = f
	return f
}

func TestAFloatingIPIsAdopted(t *testing.T) {
	w := newWorld()
	mine := w.allocated("203.0.113.80")
	before, untouched := w.count(), *mine
	p := planOf(t, floatingIPs("203.0.113.80", ""))
	res := reserve(t, p, &operator{world: w})
	if got := w.floatingOf(t, ingress); got.ID != mine.ID || got.Description != "the web's" || !slices.Contains(got.Tags, "web") || !slices.Contains(got.Tags, tagOf(owner)) {
		t.Errorf("on the port is %+v", got)
	}
	if a, ok := res.Holding.Allocation(); !ok || a.Ingress.Floating != addr("203.0.113.80") {
		t.Errorf("allocated %+v", a)
	}
	release(t, p, &operator{world: w})
	if diff := cmp.Diff(before, w.count()); diff != "" {
		t.Errorf("after the release:\n%s", diff)
	}
	untouched.Revision = w.floating[mine.ID].Revision
	if diff := cmp.Diff(untouched, *w.floating[mine.ID], cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("the operator's floating IP changed:\n%s", diff)
	}
}

// The plan may begin to name one, name another, and stop: what we made goes, what is
// the operator's is given back, and the port always has one.
func TestTheNamedFloatingIPChanges(t *testing.T) {
	w := reservedWorld(t)
	first, second := w.allocated("203.0.113.80"), w.allocated("203.0.113.81")
	for _, step := range []struct {
		name    string
		with    func(*netplan.Spec)
		has     *FloatingIP
		objects int
	}{
		{"one is named", floatingIPs("203.0.113.80", ""), first, 3},
		{"another is named", floatingIPs("203.0.113.81", ""), second, 3},
		{"none is named", floatingIPs("", ""), second, 3},
		{"ours is named", floatingIPs("203.0.113.80", ""), first, 3},
	} {
		p := planOf(t, step.with)
		reserve(t, p, &operator{world: w})
		if got := w.floatingOf(t, ingress); got.ID != step.has.ID || len(w.floating) != step.objects {
			t.Errorf("%s: on the port is %s, of %d", step.name, got.Address, len(w.floating))
		}
		for _, f := range []*FloatingIP{first, second} {
			if f.ID != step.has.ID && (f.PortID != "" || slices.Contains(f.Tags, tagOf(owner))) {
				t.Errorf("%s: %s is on %q with tags %v", step.name, f.Address, f.PortID, f.Tags)
			}
		}
	}
}

// A floating IP that Homeward made and the plan names later is the operator's to keep.
func TestANamedOneOfOursIsKept(t *testing.T) {
	w := reservedWorld(t)
	address := w.floatingOf(t, ingress).Address
	p := planOf(t, floatingIPs(address.String(), ""))
	o := &operator{world: w}
	reserve(t, p, o)
	if o.writes != 0 {
		t.Errorf("%d writes to keep what is there", o.writes)
	}
	release(t, p, &operator{world: w})
	if len(w.floating) != 1 || w.addresses()[0] != address {
		t.Errorf("left are %v", w.addresses())
	}
	release(t, p, &operator{world: w})
	reserve(t, p, &operator{world: w})
	if got := w.floatingOf(t, ingress).Address; got != address {
		t.Errorf("reserved again with %s", got)
	}
}

// Our floating IP on somebody's port is no reason to give clients another address: it is
// told, nothing is changed, and once it is off that port it is put back.
func TestAFloatingIPCarriedOffIsTold(t *testing.T) {
	w := reservedWorld(t)
	f := w.floatingOf(t, ingress)
	stranger := &Port{Object: w.new(Object{Name: "jump"}), NetworkID: "another"}
	w.ports[stranger.ID] = stranger
	f.PortID = stranger.ID
	o := &operator{world: w}
	res := clusterOf(planOf(t), o).Reserve(t.Context(), Options{})
	wantOutcome(t, res, InTheWay)
	if o.writes != 0 || len(res.Conflicts) != 1 || res.Conflicts[0].Address != f.Address.String() || !strings.Contains(res.Conflicts[0].String(), "changes the address that clients use") {
		t.Errorf("%d writes, conflicts %v", o.writes, res.Conflicts)
	}
	f.PortID = ""
	reserve(t, planOf(t), &operator{world: w})
	if got := w.floatingOf(t, ingress); got.ID != f.ID || len(w.floating) != 2 {
		t.Errorf("on the port is %s, of %v", got.Address, w.addresses())
	}
	// Whoever wants another names it, or deletes it.
	f.PortID = stranger.ID
	w.allocated("203.0.113.80")
	reserve(t, planOf(t, floatingIPs("203.0.113.80", "")), &operator{world: w})
}

// A second network of ours that is older and has nothing is kept where none has a
// floating IP: the router has to leave the other's subnet first, for it takes no two of
// the same addresses. Where one has, that one is kept, and clients keep their address.
func TestTwoNetworksAndOneRouter(t *testing.T) {
	for name, served := range map[string]bool{"no floating IP": false, "a floating IP": true} {
		t.Run(name, func(t *testing.T) {
			w := reservedWorld(t)
			first := w.floatingOf(t, ingress).Address
			mark := Mark{Owner: owner, Use: Use{For: ForNetwork}}
			late := &Network{Object: w.new(Object{Name: "edge", Description: mark.String()})}
			late.Created = late.Created.Add(-24 * time.Hour)
			w.networks[late.ID] = late
			if !served {
				clear(w.floating)
			}
			p := planOf(t)
			reserve(t, p, &operator{world: w})
			if err := w.whole(p); err != nil {
				t.Fatal(err)
			}
			if kept := w.networks[late.ID] != nil; kept == served || len(w.networks) != 1 {
				t.Errorf("the older one is kept: %t, of %d", kept, len(w.networks))
			}
			if got := w.floatingOf(t, ingress).Address; served && got != first {
				t.Errorf("clients find %s, before %s", got, first)
			}
		})
	}
}

// What somebody has switched off is a difference, and is switched on again.
func TestWhatIsOffIsSwitchedOn(t *testing.T) {
	w := reservedWorld(t)
	worker := w.portOf(t, Use{ForMachine, "edge-worker-01"})
	for _, off := range []func(){
		func() {
			for _, n := range w.networks {
				n.Off = true
			}
		},
		func() {
			for _, s := range w.subnets {
				s.Off = true
			}
		},
		func() {
			for _, r := range w.routers {
				r.Off = true
			}
		},
		func() { worker.Off = true },
	} {
		off()
		res := clusterOf(planOf(t), &operator{world: w}).Status(t.Context())
		if len(res.Steps) != 1 || !strings.Contains(res.Steps[0].Words, "admin_state_up") && !strings.Contains(res.Steps[0].Words, "enable_dhcp") {
			t.Errorf("status has %v", res.Steps)
		}
		o := &operator{world: w}
		if reserve(t, planOf(t), o); o.writes != 1 {
			t.Errorf("%d writes", o.writes)
		}
		o = &operator{world: w}
		if reserve(t, planOf(t), o); o.writes != 0 {
			t.Errorf("then %d writes", o.writes)
		}
	}
}

// A cluster that gets another name is told of the old one, as long as that has a
// floating IP.
func TestAnOldNameIsTold(t *testing.T) {
	w := reservedWorld(t)
	renamed := planOf(t, func(s *netplan.Spec) { s.Name = "edge2" })
	c := clusterOf(renamed, &operator{world: w})
	c.Owner = ledger.Owner{ID: owner.ID, Cluster: "edge2"}
	if res := c.Status(t.Context()); len(res.Holding.Warnings) != 1 || !strings.Contains(res.Holding.Warnings[0], "homeward release --owner "+owner.ID+"/edge") {
		t.Errorf("it warns %q", res.Holding.Warnings)
	}
	release(t, planOf(t), &operator{world: w})
	if res := c.Status(t.Context()); len(res.Holding.Warnings) != 0 {
		t.Errorf("it still warns %q", res.Holding.Warnings)
	}
}

// While something that is not ours hangs on the network a release removes nothing.
func TestAReleaseIsRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		world func(*testing.T, *world)
		says  []string
	}{
		{"a stranger's server", func(t *testing.T, w *world) {
			if _, err := w.createPort(Port{Object: Object{Name: "jump"}, NetworkID: w.onlyNetwork().ID, DeviceID: "server-9", DeviceOwner: "compute:nova"}); err != nil {
				t.Fatal(err)
			}
		}, []string{"port jump", "compute:nova server-9"}},
		{"a machine that runs", func(t *testing.T, w *world) { w.portOf(t, Use{ForMachine, "edge-worker-01"}).DeviceID = "server-1" }, []string{"edge-worker-01", "server-1", "take the machine down"}},
		{"a stranger's router", func(t *testing.T, w *world) {
			if _, err := w.createPort(Port{NetworkID: w.onlyNetwork().ID, DeviceID: "theirs", DeviceOwner: "network:router_interface"}); err != nil {
				t.Fatal(err)
			}
		}, []string{"router theirs", "remove port"}},
		{"a stranger's subnet", func(t *testing.T, w *world) {
			s := Subnet{Object: w.new(Object{Name: "more"}), NetworkID: w.onlyNetwork().ID, CIDR: prefix("10.9.0.0/24")}
			w.subnets[s.ID] = &s
		}, []string{"subnet more"}},
		{"our router serves another network", func(t *testing.T, w *world) {
			n := Network{Object: w.new(Object{Name: "lan"})}
			w.networks[n.ID] = &n
			for id := range w.routers {
				if _, err := w.createPort(Port{NetworkID: n.ID, DeviceID: id, DeviceOwner: "network:router_interface"}); err != nil {
					t.Fatal(err)
				}
			}
		}, []string{"router", "plugged into network"}},
		{"our group on another network's port", func(t *testing.T, w *world) {
			n := Network{Object: w.new(Object{Name: "lan"})}
			w.networks[n.ID] = &n
			for id := range w.groups {
				if _, err := w.createPort(Port{Object: Object{Name: "theirs"}, NetworkID: n.ID, Groups: []string{id}}); err != nil {
					t.Fatal(err)
				}
			}
		}, []string{"port theirs", "security group"}},
		{"a stranger's floating IP", func(t *testing.T, w *world) {
			f := w.floatingOf(t, ingress)
			f.Description, f.Tags = "", nil
		}, []string{"not put there by Homeward", "unset --port"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := reservedWorld(t)
			c.world(t, w)
			o := &operator{world: w}
			res := clusterOf(planOf(t), o).Release(context.Background(), Options{})
			wantOutcome(t, res, InTheWay)
			if o.writes != 0 || len(res.Conflicts) != 1 || res.Conflicts[0].Blame != Foreign {
				t.Fatalf("%d writes, conflicts %v", o.writes, res.Conflicts)
			}
			for _, want := range c.says {
				if !strings.Contains(res.Conflicts[0].String(), want) {
					t.Errorf("it does not say %q: %s", want, res.Conflicts[0])
				}
			}
		})
	}
}

// DHCP's own port is no reason to keep a network.
func TestAServantPortIsNone(t *testing.T) {
	w := reservedWorld(t)
	if _, err := w.createPort(Port{NetworkID: w.onlyNetwork().ID, DeviceID: "dhcp-1", DeviceOwner: "network:dhcp", Fixed: []FixedIP{{w.onlySubnet().ID, addr("10.0.0.200")}}}); err != nil {
		t.Fatal(err)
	}
	reserve(t, planOf(t), &operator{world: w})
	release(t, planOf(t), &operator{world: w})
	if len(w.networks)+len(w.ports) != 0 {
		t.Errorf("left %s", w)
	}
}

// Another cluster's network beside ours is never touched.
func TestTwoClustersSideBySide(t *testing.T) {
	w := reservedWorld(t)
	second := func(s *netplan.Spec) { s.Name = "other" }
	p := planOf(t, second)
	c := clusterOf(p, &operator{world: w})
	c.Owner = other
	wantOutcome(t, c.Reserve(context.Background(), Options{}), Done)
	owned := w.owned(other)
	o := &operator{world: w}
	reserve(t, planOf(t), o)
	if o.writes != 0 {
		t.Errorf("%d writes beside the other cluster", o.writes)
	}
	release(t, planOf(t), &operator{world: w})
	if w.owned(other) != owned || w.owned(owner) != 0 {
		t.Errorf("the other has %d objects and had %d; ours are %d", w.owned(other), owned, w.owned(owner))
	}
}

func TestOwners(t *testing.T) {
	w := reservedWorld(t)
	got, err := clusterOf(planOf(t), &operator{world: w}).Owners(context.Background())
	if err != nil || len(got) != 1 || got[0] != owner {
		t.Errorf("owners %v, %v", got, err)
	}
}
