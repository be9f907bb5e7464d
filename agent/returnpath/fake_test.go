package returnpath

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"slices"
	"sync"

	"homeward/netplan"
)

var errFake = errors.New("fake failure")

// fakeKernel holds a node's network as a kernel would.
type fakeKernel struct {
	mu        sync.Mutex
	links     []netplan.Link
	rules     []netplan.Rule
	routes    []netplan.Route
	table     netplan.TableListing
	rp        map[string]netplan.ReversePath
	addrs     []netip.Addr
	neighbour netplan.Neighbour
	v6gateway netip.Addr // of a default route by the external link, if valid
	legacy    bool
	events    chan string

	writes    []string // what changed, for tests that want none
	confirmed int
	broken    map[string]bool // listings and writes that fail
	lies      bool            // a replace is done, and yet reported as failed
	undo      int             // so many replaces are undone by someone at once
}

func (f *fakeKernel) lock(op string) (func(), error) {
	f.mu.Lock()
	if f.broken[op] {
		return f.mu.Unlock, errFake
	}
	return f.mu.Unlock, nil
}

func (f *fakeKernel) Links(context.Context) ([]netplan.Link, error) {
	unlock, err := f.lock("links")
	defer unlock()
	return slices.Clone(f.links), err
}

func (f *fakeKernel) Rules(context.Context) ([]netplan.Rule, error) {
	unlock, err := f.lock("rules")
	defer unlock()
	if err != nil {
		return nil, err
	}
	return slices.Clone(f.rules), nil
}

func (f *fakeKernel) Routes(context.Context, netplan.TableID) ([]netplan.Route, error) {
	unlock, err := f.lock("routes")
	defer unlock()
	if err != nil {
		return nil, err
	}
	return slices.Clone(f.routes), nil
}

func (f *fakeKernel) MarkTable(context.Context) (netplan.TableListing, error) {
	unlock, err := f.lock("table")
	defer unlock()
	if err != nil {
		return netplan.TableListing{}, err
	}
	t := f.table
	t.Objects = slices.Clone(t.Objects)
	return t, nil
}

func (f *fakeKernel) SetLinkUp(_ context.Context, l netplan.Link) error {
	unlock, err := f.lock("link-up")
	defer unlock()
	if err != nil {
		return err
	}
	for i := range f.links {
		if f.links[i].Index == l.Index {
			f.links[i].Up = true
		}
	}
	f.writes = append(f.writes, "up "+l.Name)
	return nil
}

func (f *fakeKernel) AddRule(_ context.Context, r netplan.Rule) error {
	unlock, err := f.lock("rule-add")
	defer unlock()
	if err != nil {
		return err
	}
	f.writes = append(f.writes, "+rule "+r.String())
	if !slices.ContainsFunc(f.rules, r.SameEffect) {
		f.rules = append(f.rules, r)
		slices.SortStableFunc(f.rules, func(a, b netplan.Rule) int { return int(a.Priority) - int(b.Priority) })
	}
	return nil
}

func (f *fakeKernel) DeleteRule(_ context.Context, r netplan.Rule) error {
	unlock, err := f.lock("rule-delete")
	defer unlock()
	f.writes = append(f.writes, "-rule "+r.String())
	f.rules = slices.DeleteFunc(f.rules, func(o netplan.Rule) bool { return o == r })
	return err
}

func (f *fakeKernel) AddRoute(_ context.Context, r netplan.Route) error {
	unlock, err := f.lock("route-add")
	defer unlock()
	if err != nil {
		return err
	}
	f.writes = append(f.writes, "+route "+r.String())
	if !slices.Contains(f.routes, r) {
		f.routes = append(f.routes, r)
	}
	return nil
}

func (f *fakeKernel) DeleteRoute(_ context.Context, r netplan.Route) error {
	unlock, err := f.lock("route-delete")
	defer unlock()
	f.writes = append(f.writes, "-route "+r.String())
	f.routes = slices.DeleteFunc(f.routes, func(o netplan.Route) bool { return o == r })
	return err
}

func (f *fakeKernel) ReplaceMarkTable(_ context.Context, t netplan.MarkTable, s netplan.Stamp, c netplan.Counters) error {
	unlock, err := f.lock("table-replace")
	defer unlock()
	if err != nil {
		return err
	}
	f.writes = append(f.writes, "table")
	if f.undo > 0 {
		f.undo--
		f.table = netplan.TableListing{}
		return nil
	}
	f.table = netplan.TableListing{Present: true, Objects: Objects(t), Interface: t.Interface, Stamp: &s, Counters: c}
	if f.lies {
		return errFake
	}
	return nil
}

func (f *fakeKernel) DeleteMarkTable(context.Context) error {
	unlock, err := f.lock("table-delete")
	defer unlock()
	f.table = netplan.TableListing{}
	return err
}

func (f *fakeKernel) ReversePath(_ context.Context, l netplan.Link) (netplan.ReversePath, error) {
	unlock, err := f.lock("rp")
	defer unlock()
	if err == nil && f.rp["gone:"+l.Name] != (netplan.ReversePath{}) {
		err = fs.ErrNotExist
	}
	return f.rp[l.Name], err
}

func (f *fakeKernel) IPv6Default(context.Context, netplan.Link) (netip.Addr, bool, error) {
	unlock, err := f.lock("ipv6")
	defer unlock()
	return f.v6gateway, f.v6gateway.IsValid(), err
}

func (f *fakeKernel) Addresses(context.Context, netplan.Link) ([]netip.Addr, error) {
	unlock, err := f.lock("addresses")
	defer unlock()
	return f.addrs, err
}

func (f *fakeKernel) Neighbour(context.Context, netplan.Link, netip.Addr) (netplan.Neighbour, error) {
	unlock, err := f.lock("neighbour")
	defer unlock()
	return f.neighbour, err
}

func (f *fakeKernel) ConfirmNeighbour(_ context.Context, l netplan.Link, a netip.Addr, mac netplan.MAC) error {
	unlock, err := f.lock("confirm")
	defer unlock()
	f.confirmed++
	f.neighbour = netplan.Neighbour{Link: l.Index, Address: a, MAC: mac, Valid: true}
	return err
}

func (f *fakeKernel) HasLegacyTable(context.Context) (bool, error) {
	unlock, err := f.lock("legacy")
	defer unlock()
	return f.legacy, err
}

func (f *fakeKernel) DeleteLegacyTable(context.Context) error {
	unlock, err := f.lock("legacy-delete")
	defer unlock()
	f.legacy = false
	return err
}

func (f *fakeKernel) Watch(context.Context) <-chan string { return f.events }

// fakeProber is a gateway that answers as told.
type fakeProber struct {
	mu           sync.Mutex
	plain, probe netplan.MAC
	err          error
	asked        []netip.Addr // the senders
}

func (p *fakeProber) Ask(_ context.Context, _ netplan.Link, sender, _ netip.Addr) (netplan.MAC, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, sender)
	if sender == netip.IPv4Unspecified() {
		return p.probe, p.err
	}
	return p.plain, p.err
}
