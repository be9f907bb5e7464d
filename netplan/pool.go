package netplan

import (
	"net/netip"
	"slices"
	"sync"
)

// pool checks the ingress pool against everything else on the external link.
func (r *resolver) pool() {
	e := r.spec.External
	if e == nil || len(e.Pool) == 0 {
		return
	}
	if len(e.Pool) > MaxRanges {
		r.fault(pathPool, "%d entries are more than %d: give ranges", len(e.Pool), MaxRanges)
		return
	}
	if !e.CIDR.IsValid() || r.faulty(pathExternal+".cidr") {
		return
	}
	ext := r.plan.External
	advice := sync.OnceValue(r.poolAdvice)
	for _, given := range e.Pool {
		if entry, ok := r.poolEntry(given, advice); ok {
			ext.IngressPool = append(ext.IngressPool, entry)
		}
	}
	r.overlapsItself(e.Pool, advice)
	if n := ext.IngressPool.Count(); n <= MaxListedAddresses {
		ext.IngressAddresses = ext.IngressPool.Addresses()
	}
}

// poolEntry gives one range of the pool as MetalLB may have it, false when it
// cannot be used. Advice is what the whole pool should be.
func (r *resolver) poolEntry(given Range, advice func() string) (Range, bool) {
	e := r.spec.External
	if !e.CIDR.Contains(given.First) || !e.CIDR.Contains(given.Last) {
		r.clash(pathPool, pathExternal+".cidr", "%s is outside %s: %s", given.brief(), e.CIDR, advice())
		return given, false
	}
	entry, err := given.without(e.CIDR)
	if err != nil {
		r.clash(pathPool, pathExternal+".cidr", "%s %v of %s: %s", given.brief(), err, e.CIDR, advice())
		return given, false
	}
	before := len(r.faults)
	if e.CIDR.Bits() < 31 {
		for _, a := range []netip.Addr{e.CIDR.Addr(), LastAddr(e.CIDR)} {
			r.holds(entry, a, pathExternal+".cidr", "the "+edge(e.CIDR, a)+" of "+e.CIDR.String(), advice)
		}
	}
	r.holds(entry, e.Gateway, pathGateway, "the gateway", advice)
	for _, m := range r.spec.Machines {
		r.holds(entry, m.ExternalAddress, "machines."+m.Name+".external_address", m.Name+"'s address", advice)
	}
	r.meets(entry, e.Reserved, pathReserved, "is reserved", advice)
	r.meets(entry, e.DHCP, pathDHCP, "is handed out by DHCP", advice)
	return entry, len(r.faults) == before
}

// holds refuses a pool range that holds one address of somebody else's.
func (r *resolver) holds(entry Range, a netip.Addr, other, what string, advice func() string) {
	if a.IsValid() && entry.Contains(a) {
		r.clash(pathPool, other, "%s holds %s, %s: %s", entry.brief(), a, what, advice())
	}
}

// meets refuses a pool range that shares addresses with a set of others.
func (r *resolver) meets(entry Range, set AddressSet, other, what string, advice func() string) {
	for _, x := range set {
		if entry.Overlaps(x) {
			r.clash(pathPool, other, "%s overlaps %s, which %s: %s", entry.brief(), x.brief(), what, advice())
		}
	}
}

// brief is the range as an operator writes it: a single address without /32.
func (x Range) brief() string {
	if x.First == x.Last {
		return x.First.String()
	}
	return x.String()
}

// overlapsItself refuses two entries of the pool that share an address.
func (r *resolver) overlapsItself(set AddressSet, advice func() string) {
	sorted := slices.Clone(set)
	slices.SortStableFunc(sorted, func(a, b Range) int { return a.First.Compare(b.First) })
	for i := 1; i < len(sorted); i++ {
		widest, next := sorted[i-1], sorted[i]
		if widest.Overlaps(next) {
			r.fault(pathPool, "%s and %s overlap: %s", widest.brief(), next.brief(), advice())
			if next.Last.Less(widest.Last) {
				sorted[i] = widest
			}
		}
	}
}
