package openstack

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"homeward/agent/ledger"
)

// world is a cloud in memory that keeps Neutron's rules, as they were seen on a real
// one: what is unique, what hangs on what, what a second request of a kind is told.
type world struct {
	mu       sync.Mutex
	n        int
	external []Network
	networks map[string]*Network
	subnets  map[string]*Subnet
	routers  map[string]*Router
	groups   map[string]*Group
	ports    map[string]*Port
	floating map[string]*FloatingIP
	quota    Quota
	// coarse makes all objects as old as one another, so that their ids decide.
	coarse bool
}

const (
	project   = "project"
	externalA = "external-a"
)

func newWorld() *world {
	return &world{
		external: []Network{{Object: Object{ID: externalA, Name: "public"}}, {Object: Object{ID: "external-b", Name: "campus"}}},
		networks: map[string]*Network{}, subnets: map[string]*Subnet{}, routers: map[string]*Router{}, groups: map[string]*Group{},
		ports: map[string]*Port{}, floating: map[string]*FloatingIP{}, quota: Quota{},
	}
}

// new gives a new object. Ids are not in the order in which things are made.
func (w *world) new(o Object) Object {
	w.n++
	o.ID = fmt.Sprintf("%04x-%d", (w.n*40503)&0xffff, w.n)
	o.Revision = 1
	o.Created = time.Unix(1_800_000_000, 0).UTC()
	if !w.coarse {
		o.Created = o.Created.Add(time.Duration(w.n) * time.Second)
	}
	return o
}

// count says how many of each kind there are.
func (w *world) count() map[Kind]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	rules := 0
	for _, g := range w.groups {
		rules += len(g.Rules)
	}
	return map[Kind]int{KindNetwork: len(w.networks), KindSubnet: len(w.subnets), KindRouter: len(w.routers), KindGroup: len(w.groups),
		KindRule: rules, KindPort: len(w.ports), KindFloating: len(w.floating)}
}

func (w *world) room(kind Kind, n int) error {
	have := map[Kind]int{KindNetwork: len(w.networks), KindSubnet: len(w.subnets), KindRouter: len(w.routers), KindGroup: len(w.groups),
		KindPort: len(w.ports), KindFloating: len(w.floating)}[kind]
	if room, ok := w.quota[kind]; ok && have+n > room.Limit {
		return &Error{Method: "POST", Path: "/" + places[kind].path, Status: 409, Type: typeOverQuota, Message: "Quota exceeded", class: ledger.ErrRefused}
	}
	return nil
}

func refuse(class error, format string, args ...any) error {
	return &Error{Method: "POST", Path: "/x", Status: 409, Message: fmt.Sprintf(format, args...), class: class}
}

func cloned[T any](m map[string]*T, copy func(T) T) []T {
	var out []T
	for _, x := range m {
		out = append(out, copy(*x))
	}
	return out
}

func same[T any](x T) T { return x }

func copyPort(p Port) Port {
	p.Fixed, p.Groups, p.Pairs, p.Tags = slices.Clone(p.Fixed), slices.Clone(p.Groups), slices.Clone(p.Pairs), slices.Clone(p.Tags)
	return p
}

// list is one of the reads of Client.Read, so that others can write in between.
func (w *world) list(a *Actual, q Query, at int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch at {
	case 0:
		a.Project, a.External = project, slices.Clone(w.external)
		a.Networks = cloned(w.networks, same)
	case 1:
		a.Subnets = cloned(w.subnets, same)
	case 2:
		a.Routers = cloned(w.routers, same)
	case 3:
		a.Groups = cloned(w.groups, func(g Group) Group { g.Rules = slices.Clone(g.Rules); return g })
	case 4:
		a.Floating = cloned(w.floating, same)
	case 5:
		h := Holding{Owner: q.Owner}
		own := ids(ours(&h, a.Networks, Use{For: ForNetwork}))
		routers, groups := ids(ours(&h, a.Routers, Use{For: ForRouter})), ids(ours(&h, a.Groups, Use{For: ForGroup}))
		var attached []Port
		for _, p := range cloned(w.ports, copyPort) {
			if slices.Contains(own, p.NetworkID) {
				a.Ports = append(a.Ports, p)
			}
			if slices.Contains(q.PortNames, p.Name) {
				a.Namesakes = append(a.Namesakes, p)
			}
			if slices.Contains(routers, p.DeviceID) || slices.ContainsFunc(p.Groups, func(g string) bool { return slices.Contains(groups, g) }) {
				attached = append(attached, p)
			}
		}
		if q.Attached {
			a.Attached = outside(attached, a.Ports)
		}
		return false
	}
	return true
}

func (w *world) createPort(p Port) (Port, error) {
	if w.networks[p.NetworkID] == nil {
		return Port{}, refuse(ledger.ErrGone, "network %s", p.NetworkID)
	}
	for _, g := range p.Groups {
		if w.groups[g] == nil {
			return Port{}, refuse(ledger.ErrGone, "group %s", g)
		}
	}
	p.Object = w.new(p.Object)
	if p.MAC == "" {
		p.MAC = fmt.Sprintf("fa:16:3e:00:%02x:%02x", w.n>>8&255, w.n&255)
	}
	for i, f := range p.Fixed {
		s := w.subnets[f.SubnetID]
		if s == nil {
			return Port{}, refuse(ledger.ErrGone, "subnet %s", f.SubnetID)
		}
		if !f.Address.IsValid() {
			if p.Fixed[i].Address = w.free(s); !p.Fixed[i].Address.IsValid() {
				return Port{}, &Error{Method: "POST", Path: "/ports", Status: 409, Type: "IpAddressGenerationFailure", class: ledger.ErrRefused}
			}
		}
	}
	for _, other := range w.ports {
		switch {
		case other.NetworkID == p.NetworkID && other.MAC == p.MAC:
			return Port{}, refuse(ledger.ErrTaken, "MacAddressInUse %s", p.MAC)
		case slices.ContainsFunc(p.Fixed, func(f FixedIP) bool { return slices.Contains(other.Fixed, f) }):
			return Port{}, refuse(ledger.ErrTaken, "IpAddressAlreadyAllocated %v", p.Fixed)
		}
	}
	w.ports[p.ID] = &p
	return copyPort(p), nil
}

// free is the lowest address of the pools that no port has.
func (w *world) free(s *Subnet) netip.Addr {
	for _, pool := range s.Pools {
		for a := pool[0]; !pool[1].Less(a); a = a.Next() {
			taken := false
			for _, p := range w.ports {
				taken = taken || slices.Contains(p.Fixed, FixedIP{s.ID, a})
			}
			if !taken {
				return a
			}
		}
	}
	return netip.Addr{}
}

// operator is one client of a world, whose every request can be disturbed.
type operator struct {
	*world
	// before is asked before each request; done says whether it was done, an error is
	// what the client gets in any case. Nil lets everything pass.
	disturb func(n int, what string) (done bool, err error)
	// lastWins lets a floating IP be moved whatever its revision, as a real server does
	// when two move it at once.
	lastWins      bool
	mu            sync.Mutex
	reads, writes int
	at            int
}

// do is one request.
func (o *operator) do(ctx context.Context, what string, write bool, f func() error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s was not sent: %w", what, context.Cause(ctx))
	}
	o.mu.Lock()
	n := o.at
	o.at++
	if write {
		o.writes++
	} else {
		o.reads++
	}
	o.mu.Unlock()
	done, err := true, error(nil)
	if o.disturb != nil {
		done, err = o.disturb(n, what)
	}
	if !done {
		return err
	}
	o.world.mu.Lock()
	defer o.world.mu.Unlock()
	if e := f(); err == nil {
		err = e
	}
	return err
}

func (o *operator) Read(ctx context.Context, q Query) (*Actual, error) {
	a := &Actual{}
	for i := 0; ; i++ {
		more := false
		if err := o.do(ctx, "list", false, func() error { return nil }); err != nil {
			return nil, err
		}
		if more = o.list(a, q, i); !more {
			return a, nil
		}
	}
}

func (o *operator) Quota(ctx context.Context, _ string) (q Quota, err error) {
	err = o.do(ctx, "quota", false, func() error {
		q = Quota{}
		for kind, room := range o.quota {
			room.Used = map[Kind]int{KindPort: len(o.ports), KindFloating: len(o.floating), KindNetwork: len(o.networks)}[kind]
			q[kind] = room
		}
		return nil
	})
	return q, err
}

func (o *operator) Tag(ctx context.Context, kind Kind, id, tag string) error {
	return o.change(ctx, "tag", kind, id, func(x *Object) {
		if !slices.Contains(x.Tags, tag) {
			x.Tags = append(slices.Clone(x.Tags), tag)
		}
	})
}

func (o *operator) Untag(ctx context.Context, kind Kind, id, tag string) error {
	return o.change(ctx, "untag", kind, id, func(x *Object) {
		x.Tags = slices.DeleteFunc(slices.Clone(x.Tags), func(t string) bool { return t == tag })
	})
}

func (o *operator) Rename(ctx context.Context, kind Kind, id, name string) error {
	return o.change(ctx, "rename", kind, id, func(x *Object) { x.Name = name })
}

func (o *operator) SwitchOn(ctx context.Context, kind Kind, id string) error {
	return o.change(ctx, "switch on", kind, id, func(x *Object) { x.Off = false })
}

func (o *operator) change(ctx context.Context, what string, kind Kind, id string, f func(*Object)) error {
	return o.do(ctx, what, true, func() error {
		var x *Object
		switch {
		case kind == KindNetwork && o.networks[id] != nil:
			x = &o.networks[id].Object
		case kind == KindSubnet && o.subnets[id] != nil:
			x = &o.subnets[id].Object
		case kind == KindRouter && o.routers[id] != nil:
			x = &o.routers[id].Object
		case kind == KindGroup && o.groups[id] != nil:
			x = &o.groups[id].Object
		case kind == KindPort && o.ports[id] != nil:
			x = &o.ports[id].Object
		case kind == KindFloating && o.floating[id] != nil:
			x = &o.floating[id].Object
		default:
			return refuse(ledger.ErrGone, "%s %s", kind, id)
		}
		f(x)
		x.Revision++
		return nil
	})
}
