package reservation

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"homeward/agent/ledger"
	"homeward/agent/proxmox"
	"homeward/netplan"
)

// subnetIPAM is the SDN IPAM of a VNet on the segment, and the networks it knows.
type subnetIPAM struct {
	zone, vnet string
	networks   []netip.Prefix
}

// findIPAM gives the IPAM that takes a second claim: that of a VNet which is the
// segment, or one of its names, and has an applied subnet with one of the plan's
// addresses.
func (c *Cluster) findIPAM(l *Look) *subnetIPAM {
	names := []netplan.Segment{c.Plan.External.Segment, l.Survey.Segment}
	names = append(names, l.Survey.AlsoKnown...)
	ipam := map[string]bool{}
	for _, z := range l.Snapshot.Zones {
		ipam[z.Name] = z.IPAM != ""
	}
	for _, v := range l.Snapshot.VNets {
		is := func(s netplan.Segment) bool { return s.VNet == v.Name && s.VLAN == 0 }
		if v.Pending || !ipam[v.Zone] || !slices.ContainsFunc(names, is) {
			continue
		}
		found := subnetIPAM{zone: v.Zone, vnet: v.Name}
		for _, s := range l.Snapshot.Subnets {
			if s.VNet == v.Name && !s.Pending && slices.ContainsFunc(l.Wants, func(w ledger.Want) bool { return s.CIDR.Contains(w.Address) }) {
				found.networks = append(found.networks, s.CIDR)
			}
		}
		if len(found.networks) > 0 {
			return &found
		}
	}
	return nil
}

// second is a Book that makes the second claim: before an entry becomes held, and
// gives it up before a held entry becomes pending.
type second struct {
	ledger.Book
	ipam     *proxmox.IPAM
	owner    ledger.Owner
	networks []netip.Prefix
	// held are the owner's entries as last read, by whether they are held.
	held map[netip.Addr]bool
	// earlier are the addresses whose entry was there when this run began, or whose
	// second claim of this run has an unknown outcome.
	earlier map[netip.Addr]bool
}

// claiming wraps a Book for one owner, where the segment has an IPAM.
func (c *Cluster) claiming(l *Look, b ledger.Book, o ledger.Owner) (ledger.Book, error) {
	if l.second == nil {
		return b, nil
	}
	ipam, err := proxmox.NewIPAM(c.API, l.second.zone, l.second.vnet, o)
	if err != nil {
		return nil, err
	}
	s := &second{Book: b, ipam: ipam, owner: o, networks: l.second.networks, held: map[netip.Addr]bool{}, earlier: map[netip.Addr]bool{}}
	for _, e := range l.page().Owned(o) {
		s.earlier[e.Prefix.Addr()] = true
	}
	return s, nil
}

// TakenError says that SDN's IPAM gave an address to somebody else, after the ledger
// had none against it.
type TakenError struct {
	Address netip.Addr
	err     error
}

// Error implements error.
func (e *TakenError) Error() string { return e.err.Error() }

// Read implements ledger.Book.
func (s *second) Read(ctx context.Context) (ledger.Page, error) {
	page, err := s.Book.Read(ctx)
	if err == nil {
		clear(s.held)
		for _, e := range page.Owned(s.owner) {
			s.held[e.Prefix.Addr()] = e.Record.State == ledger.Held
		}
	}
	return page, err
}

// Change implements ledger.Book.
func (s *second) Change(ctx context.Context, a netip.Addr, r ledger.Record, version string) error {
	if !s.known(a) {
		return s.Book.Change(ctx, a, r, version)
	}
	switch {
	case r.State == ledger.Held:
		err := s.ipam.Claim(ctx, a, s.earlier[a])
		if errors.Is(err, ledger.ErrUnknown) {
			s.earlier[a] = true
		}
		if err != nil {
			return settled(a, err)
		}
	case s.held[a]:
		if err := s.ipam.Release(ctx, a, true); err != nil {
			return settled(a, err)
		}
	}
	return s.Book.Change(ctx, a, r, version)
}

// Remove implements ledger.Book.
func (s *second) Remove(ctx context.Context, a netip.Addr, version string) error {
	if s.known(a) {
		if err := s.ipam.Release(ctx, a, false); err != nil {
			return settled(a, err)
		}
	}
	return s.Book.Remove(ctx, a, version)
}

func (s *second) known(a netip.Addr) bool {
	return slices.ContainsFunc(s.networks, func(p netip.Prefix) bool { return p.Contains(a) })
}

// settled keeps what the IPAM says from being taken for the ledger's answer: that
// it gave the address to somebody, or does not exist, says nothing of the entry,
// and ends the run.
func settled(a netip.Addr, err error) error {
	switch {
	case errors.Is(err, ledger.ErrTaken):
		return fmt.Errorf("%w: %w", ledger.ErrRefused, &TakenError{a, err})
	case errors.Is(err, ledger.ErrGone), errors.Is(err, ledger.ErrStale):
		return fmt.Errorf("%w: %s", ledger.ErrRefused, err)
	}
	return err
}
