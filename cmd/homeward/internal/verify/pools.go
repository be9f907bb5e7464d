package verify

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"homeward/netplan"
	"homeward/talosgen/gitops"
)

// extent is the addresses of a pool.
type extent struct {
	Pool
	set netplan.AddressSet
	// six are entries of IPv6, odd are those that MetalLB would not take.
	six, odd []string
}

func (e extent) name() string { return e.Metadata.Namespace + "/" + e.Metadata.Name }

// extents reads the pools of MetalLB's namespace, by name; elsewhere are the names of
// pools in others, which this MetalLB does not see.
func (s *Snapshot) extents() (here []extent, elsewhere []string) {
	for _, p := range s.Pools.Value {
		e := extent{Pool: p}
		if p.Metadata.Namespace != s.Namespace {
			elsewhere = append(elsewhere, e.name())
			continue
		}
		for _, text := range p.Spec.Addresses {
			switch r, six, err := parsePool(text); {
			case err != nil:
				e.odd = append(e.odd, text)
			case six:
				e.six = append(e.six, text)
			default:
				e.set = append(e.set, r)
			}
		}
		here = append(here, e)
	}
	slices.SortFunc(here, func(a, b extent) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	slices.Sort(elsewhere)
	return here, elsewhere
}

// parsePool reads one entry as MetalLB does: a CIDR with any host bits, or "a-b".
func parsePool(text string) (r netplan.Range, six bool, err error) {
	first, last, dashed := strings.Cut(text, "-")
	if !dashed {
		p, err := netip.ParsePrefix(text)
		switch {
		case err != nil:
			return r, false, err
		case !p.Addr().Is4():
			return r, true, nil
		}
		return netplan.Range{First: p.Masked().Addr(), Last: netplan.LastAddr(p)}, false, nil
	}
	a, err := netip.ParseAddr(strings.TrimSpace(first))
	if err != nil {
		return r, false, err
	}
	b, err := netip.ParseAddr(strings.TrimSpace(last))
	switch {
	case err != nil:
		return r, false, err
	case a.Is4() != b.Is4() || b.Less(a):
		return r, false, fmt.Errorf("%s is no range", text)
	case !a.Is4():
		return r, true, nil
	}
	return netplan.Range{First: a, Last: b}, false, nil
}

// ours are the pools that hand out addresses of the plan's, or have the name that the
// plan gives its pool; others are the rest.
func (s *Snapshot) ours(all []extent) (ours, others []extent) {
	for _, e := range all {
		if e.Metadata.Name == gitops.PoolName || meets(e.set, s.Plan.ServicePool()) {
			ours = append(ours, e)
		} else {
			others = append(others, e)
		}
	}
	return ours, others
}

// meets says that two sets share an address.
func meets(a, b netplan.AddressSet) bool {
	return slices.ContainsFunc(a, func(x netplan.Range) bool {
		return slices.ContainsFunc(b, x.Overlaps)
	})
}

// ranges writes a set as an operator does.
func ranges(set netplan.AddressSet) string {
	var out []string
	for _, r := range set.Merged() {
		out = append(out, strings.TrimSuffix(r.String(), "/32"))
	}
	return named(out)
}

func poolIsPlanned(s *Snapshot, n *notes) {
	if !s.hasPool(n) {
		return
	}
	if _, ok := need(n, s.Pools); !ok {
		return
	}
	planned := s.Plan.ServicePool()
	all, elsewhere := s.extents()
	ours, _ := s.ours(all)
	var handed netplan.AddressSet
	for _, e := range ours {
		handed = append(handed, e.set...)
		s.poolManners(n, e)
		if beyond := e.set.Minus(planned); len(beyond) > 0 {
			n.fail("pool %s also hands out %s, which the plan has not", e.name(), ranges(beyond))
		}
	}
	if missing := planned.Minus(handed); len(missing) > 0 {
		n.fail("no pool in %s hands out %s", s.Namespace, ranges(missing))
	}
	if len(ours) == 0 && len(elsewhere) > 0 {
		n.fail("there are pools elsewhere: %s", named(elsewhere))
		n.remedy("name MetalLB's namespace with --metallb-namespace; one in "+s.Namespace+" reads only its own", "")
	}
	n.saw("the plan has %s", ranges(planned))
	s.regenerate(n)
}

// poolManners says what makes a pool of the plan's hand out less than it has.
func (s *Snapshot) poolManners(n *notes, e extent) {
	for _, text := range e.odd {
		n.fail("pool %s has %s, which MetalLB does not take", e.name(), netplan.Quote(text))
	}
	if a := e.Spec.AutoAssign; a != nil && !*a {
		n.warn("pool %s has autoAssign: false: only services that name it or pin an address get one", e.name())
	}
	if a := e.Spec.AllocateTo; a != nil && len(a.Namespaces)+len(a.NamespaceSelectors)+len(a.ServiceSelectors) > 0 {
		n.warn("pool %s is confined to some services (serviceAllocation)", e.name())
	}
	if e.Spec.AvoidBuggyIPs {
		if buggy := buggyIn(e.set); len(buggy) > 0 {
			n.warn("pool %s has avoidBuggyIPs, and so never hands out %s by itself", e.name(), addresses(buggy))
		}
	}
}

// buggyIn are the addresses of a set that end in .0 or .255.
func buggyIn(set netplan.AddressSet) []netip.Addr {
	var out []netip.Addr
	for _, r := range set {
		for a := r.First; !r.Last.Less(a) && len(out) < mostNamed; {
			last := a.As4()[3]
			if last == 0 || last == 255 {
				out = append(out, a)
			}
			// On to the next end of a /24.
			b := a.As4()
			if last == 255 {
				a = a.Next()
			} else {
				b[3] = 255
				a = netip.AddrFrom4(b)
			}
			if !a.IsValid() || a.Less(r.First) {
				break
			}
		}
	}
	return out
}

func otherPools(s *Snapshot, n *notes) {
	if _, ok := need(n, s.Pools); !ok {
		return
	}
	all, elsewhere := s.extents()
	others := all
	if len(s.Plan.ServicePool()) > 0 {
		_, others = s.ours(all)
	}
	for i, a := range all {
		for _, b := range all[i+1:] {
			if meets(a.set, b.set) {
				n.fail("pools %s and %s overlap: MetalLB takes neither, and keeps to what it knew before", a.name(), b.name())
				n.remedy("let each address be in one pool", "kubectl -n "+s.Namespace+" edit ipaddresspool "+b.Metadata.Name)
			}
		}
	}
	for _, e := range others {
		s.otherPool(n, e)
	}
	for _, name := range elsewhere {
		n.warn("pool %s is outside %s: MetalLB there does not see it, another one may", name, s.Namespace)
		n.remedy("delete the pool if no other MetalLB reads it; where this one is elsewhere, name that with --metallb-namespace", "")
	}
	if len(others) == 0 {
		n.saw("there is no other pool")
	}
}

// otherPool judges a pool that is none of the plan's.
func (s *Snapshot) otherPool(n *notes, e extent) {
	n.remedy("delete the pool"+s.widen("its addresses"), "kubectl -n "+s.Namespace+" delete ipaddresspool "+e.Metadata.Name)
	auto := e.Spec.AutoAssign == nil || *e.Spec.AutoAssign
	how := "services without a pinned address may get one of it"
	if !auto {
		how = "only services that ask for it get one of it"
	}
	for _, r := range e.set {
		for _, a := range []netip.Addr{s.Plan.Ingress.Floating, s.Plan.KubeAPI.Floating} {
			if what := s.floating(a); what != "" && r.Contains(a) {
				n.fail("pool %s hands out %s, which is %s: the cloud translates it, and MetalLB can announce the fixed address only", e.name(), a, what)
				return
			}
		}
	}
	for _, link := range []struct {
		what string
		cidr netip.Prefix
	}{{"external", s.externalCIDR()}, {"private", s.Plan.Cluster.CIDR}} {
		if !link.cidr.IsValid() {
			continue
		}
		if there := within(e.set, link.cidr); len(there) > 0 {
			n.fail("pool %s hands out %s of the %s network, which the plan has not: nobody has reserved them", e.name(), ranges(there), link.what)
			return
		}
	}
	if len(e.six) > 0 {
		n.warn("pool %s hands out %s: plans have IPv4 only", e.name(), plain(named(e.six)))
		return
	}
	n.warn("pool %s hands out %s, which is not the plan's; %s", e.name(), ranges(e.set), how)
}

func (s *Snapshot) externalCIDR() netip.Prefix {
	if s.Plan.External == nil {
		return netip.Prefix{}
	}
	return s.Plan.External.CIDR
}

// within are the addresses of a set that are of a network.
func within(set netplan.AddressSet, network netip.Prefix) netplan.AddressSet {
	outside := set.Minus(netplan.AddressSet{{First: network.Masked().Addr(), Last: netplan.LastAddr(network)}})
	return set.Minus(outside)
}
