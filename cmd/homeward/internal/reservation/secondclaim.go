package reservation

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"homeward/agent/ledger"
	"homeward/agent/ledger/inventory"
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
		if v.Pending || !ipam[v.Zone] || !slices.ContainsFunc(names, is) && !l.isSegment(v.Name) {
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

// isSegment says that a VNet is another name of the segment, as one of a vlan zone is
// of its bridge and tag: what is claimed must not depend on how the plan spells it.
func (l *Look) isSegment(vnet string) bool {
	at, err := inventory.Locate(l.Snapshot, netplan.Segment{VNet: vnet})
	return err == nil && at == l.Survey.Segment
}

// partly is a Book of which only the addresses that an IPAM knows are claimed there
// as well.
type partly struct {
	*proxmox.IPAMBook
	plain    ledger.Book
	networks []netip.Prefix
}

// claiming wraps a Book for one owner and one run, where the segment has an IPAM.
func (c *Cluster) claiming(l *Look, b ledger.Book, o ledger.Owner) (ledger.Book, error) {
	if l.second == nil {
		return b, nil
	}
	ipam, err := proxmox.NewIPAM(c.API, l.second.zone, l.second.vnet, o)
	if err != nil {
		return nil, err
	}
	return partly{proxmox.NewIPAMBook(b, ipam), b, l.second.networks}, nil
}

func (p partly) of(a netip.Addr) ledger.Book {
	if slices.ContainsFunc(p.networks, func(n netip.Prefix) bool { return n.Contains(a) }) {
		return p.IPAMBook
	}
	return p.plain
}

// lacking are the owner's held entries that an IPAM knows and has not been told of: it
// came, or learnt of the network, after they were claimed.
func (s *subnetIPAM) lacking(p ledger.Page, o ledger.Owner) []ledger.Entry {
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(p.Owned(o), func(e ledger.Entry) bool {
		known := slices.ContainsFunc(s.networks, func(n netip.Prefix) bool { return n.Contains(e.Prefix.Addr()) })
		return !known || e.Record.State != ledger.Held || proxmox.ClaimedInIPAM(e.Record)
	})
}

// catchUp makes the second claim of entries that are held without it.
func (c *Cluster) catchUp(ctx context.Context, l *Look, b ledger.Book) (int, error) {
	for n := 0; ; n++ {
		page, err := b.Read(ctx)
		if err != nil {
			return n, err
		}
		lacking := l.second.lacking(page, c.Owner)
		if len(lacking) == 0 || n == ledger.MaxWants {
			return n, nil
		}
		e := lacking[0]
		err = b.Change(ctx, e.Prefix.Addr(), e.Record, page.Version)
		if err != nil && !errors.Is(err, ledger.ErrStale) { // somebody else wrote: read again
			return n, err
		}
	}
}

// Change implements ledger.Book.
func (p partly) Change(ctx context.Context, a netip.Addr, r ledger.Record, version string) error {
	return p.of(a).Change(ctx, a, r, version)
}

// Remove implements ledger.Book.
func (p partly) Remove(ctx context.Context, a netip.Addr, version string) error {
	return p.of(a).Remove(ctx, a, version)
}
