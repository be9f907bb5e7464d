package openstack

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
	"homeward/netplan"
)

var (
	other    = ledger.Owner{ID: "fedcba9876543210", Cluster: "other"}
	namesOwn = ledger.Owner{ID: "fedcba9876543210", Cluster: "edge"}
)

func (w *world) add(t testing.TB, o Object, make func(*operator, Object) error) {
	t.Helper()
	if err := make(&operator{world: w}, o); err != nil {
		t.Fatal(err)
	}
}

func marked(o ledger.Owner, use Use) string { return (Mark{o, use}).String() }

// networkOf is the world's only one.
func (w *world) onlyNetwork() *Network {
	for _, n := range w.networks {
		return n
	}
	return nil
}

func (w *world) onlySubnet() *Subnet {
	for _, s := range w.subnets {
		return s
	}
	return nil
}

// A plan meets what others have: nothing is changed, and the conflict names the object,
// whose it is and what to do.
func TestConflicts(t *testing.T) {
	ctx := context.Background()
	network := func(description string) func(testing.TB, *world) {
		return func(t testing.TB, w *world) {
			w.add(t, Object{Name: "edge", Description: description}, func(o *operator, x Object) error { _, err := o.CreateNetwork(ctx, x); return err })
		}
	}
	taken := func(p Port) func(testing.TB, *world) {
		return func(t testing.TB, w *world) {
			reserve(t, planOf(t), &operator{world: w})
			p := p
			p.NetworkID = w.onlyNetwork().ID
			for i := range p.Fixed {
				p.Fixed[i].SubnetID = w.onlySubnet().ID
			}
			if _, err := w.createPort(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	floating := func(f FloatingIP) func(testing.TB, *world) {
		return func(_ testing.TB, w *world) {
			f.Object = w.new(f.Object)
			w.floating[f.ID] = &f
		}
	}
	pinned := func(s *netplan.Spec) {
		o := *s.OpenStack
		o.IngressFloatingIP = addr("203.0.113.80")
		s.OpenStack = &o
	}
	for _, c := range []struct {
		name  string
		world func(testing.TB, *world)
		with  func(*netplan.Spec)
		blame Blame
		says  []string
	}{
		{"a network without our mark", network(""), nil, Foreign, []string{"network edge", "somebody else made it", "another name"}},
		{"a network of a cluster of that name", network(marked(namesOwn, Use{For: ForNetwork})), nil, Foreign, []string{"same name with another id (fedcba9876543210)", "homeward.id"}},
		{"a network of another cluster", network(marked(other, Use{For: ForNetwork})), nil, Foreign, []string{"cluster other (id fedcba9876543210)"}},
		{"a router without our mark", func(t testing.TB, w *world) {
			w.add(t, Object{Name: "edge"}, func(o *operator, x Object) error { _, err := o.CreateRouter(ctx, Router{Object: x}); return err })
		}, nil, Foreign, []string{"router edge"}},
		{"a group without our mark", func(t testing.TB, w *world) {
			w.add(t, Object{Name: "edge"}, func(o *operator, x Object) error { _, err := o.CreateGroup(ctx, x); return err })
		}, nil, Foreign, []string{"security group edge"}},
		{"a port of our name on another network", func(t testing.TB, w *world) {
			w.add(t, Object{Name: "lan"}, func(o *operator, x Object) error {
				n, err := o.CreateNetwork(ctx, x)
				if err == nil {
					_, err = o.CreatePort(ctx, Port{Object: Object{Name: "edge-worker-01"}, NetworkID: n.ID})
				}
				return err
			})
		}, nil, Foreign, []string{"port edge-worker-01", "somebody else"}},
		{"no such external network", nil, func(s *netplan.Spec) { s.OpenStack = &netplan.OpenStackSpec{ExternalNet: "publik"} }, Wrong, []string{"no external network publik", "campus, public"}},
		{"two external networks of one name", func(_ testing.TB, w *world) { w.external[1].Name = "public" }, nil, Wrong, []string{"2 external networks", "external-a or external-b"}},
		{"the chosen address is a stranger's", taken(Port{Object: Object{Name: "jump"}, DeviceID: "server-9", DeviceOwner: "compute:nova", Fixed: []FixedIP{{Address: addr("10.0.0.50")}}}),
			choose("10.0.0.50", ""), Foreign, []string{"10.0.0.50", "edge-ingress", "port jump", "compute:nova server-9", "choose another"}},
		{"the chosen address is a used machine's", func(t testing.TB, w *world) {
			reserve(t, planOf(t, machine("edge-worker-02", "10.0.0.50", "")), &operator{world: w})
			w.portOf(t, Use{ForMachine, "edge-worker-02"}).DeviceID = "server-1"
		}, choose("10.0.0.50", ""), Foreign, []string{"10.0.0.50", "edge-worker-02", "machine edge-worker-02"}},
		{"the MAC of a machine is a stranger's", taken(Port{Object: Object{Name: "jump"}, MAC: "02:00:00:00:00:77"}),
			func(s *netplan.Spec) { workers(3)(s); machine("edge-worker-03", "", "02:00:00:00:00:77")(s) }, Foreign, []string{"02:00:00:00:00:77", "edge-worker-03", "port jump"}},
		{"a machine's MAC changed", func(t testing.TB, w *world) { reserve(t, planOf(t), &operator{world: w}) },
			machine("edge-worker-01", "", "02:00:00:00:00:77"), Wrong, []string{"edge-worker-01", "openstack port delete", "macs.cluster"}},
		{"the network's prefix changed", func(t testing.TB, w *world) { reserve(t, planOf(t), &operator{world: w}) },
			func(s *netplan.Spec) { s.Cluster.CIDR = prefix("10.0.8.0/24") }, Wrong, []string{"network.cidr", "10.0.8.0/24", "10.0.0.0/24", "release"}},
		{"the external network changed", func(t testing.TB, w *world) { reserve(t, planOf(t), &operator{world: w}) },
			func(s *netplan.Spec) { s.OpenStack = &netplan.OpenStackSpec{ExternalNet: "campus"} }, Wrong, []string{"openstack.external_net", "campus"}},
		{"another router has the gateway", func(t testing.TB, w *world) {
			reserve(t, planOf(t), &operator{world: w})
			for _, p := range w.ports {
				if p.plug() {
					p.DeviceID = "theirs"
				}
			}
		}, nil, Foreign, []string{"10.0.0.1", "router theirs", "remove subnet"}},
		{"no such floating IP", nil, pinned, Wrong, []string{"openstack.ingress_floating_ip", "203.0.113.80", "openstack floating ip create public"}},
		{"the floating IP is on another port", floating(FloatingIP{Address: addr("203.0.113.80"), NetworkID: externalA, PortID: "theirs"}), pinned, Foreign, []string{"203.0.113.80", "port theirs", "unset --port"}},
		{"the floating IP is another cluster's", floating(FloatingIP{Object: Object{Description: marked(other, ingress)}, Address: addr("203.0.113.80"), NetworkID: externalA}), pinned, Foreign, []string{"cluster other"}},
		{"the floating IP is of another network", floating(FloatingIP{Address: addr("203.0.113.80"), NetworkID: "external-b"}), pinned, Wrong, []string{"not on external network public"}},
		{"a stranger's floating IP is on our port", func(t testing.TB, w *world) {
			reserve(t, planOf(t), &operator{world: w})
			f := w.floatingOf(t, ingress)
			f.Description, f.Tags = "mine", nil
		}, nil, Foreign, []string{"edge-ingress", "not put there by Homeward", "openstack.ingress_floating_ip"}},
		{"no port security", func(t testing.TB, w *world) {
			w.add(t, Object{Name: "edge", Description: marked(owner, Use{For: ForNetwork})}, func(o *operator, x Object) error {
				n, err := o.CreateNetwork(ctx, x)
				w.networks[n.ID].NoPortSecurity = true
				return err
			})
		}, nil, Wrong, []string{"port security", "--enable-port-security"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			if c.world != nil {
				c.world(t, w)
			}
			before := w.count()
			with := c.with
			if with == nil {
				with = func(*netplan.Spec) {}
			}
			o := &operator{world: w}
			res := clusterOf(planOf(t, with), o).Reserve(context.Background(), Options{})
			wantOutcome(t, res, InTheWay)
			if o.writes != 0 || !cmp.Equal(before, w.count()) {
				t.Errorf("%d writes", o.writes)
			}
			if len(res.Conflicts) != 1 || res.Conflicts[0].Blame != c.blame {
				t.Fatalf("conflicts %+v", res.Conflicts)
			}
			for _, want := range c.says {
				if !strings.Contains(res.Conflicts[0].String(), want) {
					t.Errorf("it does not say %q: %s", want, res.Conflicts[0])
				}
			}
		})
	}
}

// A second one of our name, while we have our own, is told and changes nothing.
func TestANamesakeBesideOurOwnIsAWarning(t *testing.T) {
	w := reservedWorld(t)
	o := &operator{world: w}
	if _, err := o.CreateNetwork(context.Background(), Object{Name: "edge"}); err != nil {
		t.Fatal(err)
	}
	res := reserve(t, planOf(t), &operator{world: w})
	if len(res.Holding.Warnings) != 1 || !strings.Contains(res.Holding.Warnings[0], "network edge") {
		t.Errorf("warnings %v", res.Holding.Warnings)
	}
}
