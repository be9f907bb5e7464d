package netplan

import (
	"fmt"
	"net/netip"
	"strings"
)

// What is suggested of the external link must pass together: the pool that is
// suggested holds no address that is suggested for the VIP, and neither holds
// what others have.

// othersOutside are the addresses of the external link that neither the pool nor
// the VIP may have: the gateway's, other hosts' and the machines' own.
func (r *resolver) othersOutside() AddressSet {
	e := r.spec.External
	others := append(append(AddressSet{}, e.DHCP...), e.Reserved...)
	for _, m := range r.spec.Machines {
		others = others.with(m.ExternalAddress)
	}
	return others.with(e.Gateway)
}

// with adds a single address where there is one.
func (s AddressSet) with(a netip.Addr) AddressSet {
	if !a.IsValid() {
		return s
	}
	return append(s, Range{First: a, Last: a})
}

// poolAdvice says what the whole pool should be: what is left of it without the
// addresses that others have, else the widest part of the link that is free.
func (r *resolver) poolAdvice() string {
	if left := r.poolLeft(); len(left) > 0 {
		return "give " + left.value()
	}
	e := r.spec.External
	var widest Range
	for _, x := range (AddressSet{hosts(e.CIDR)}).Minus(r.poolHoles()) {
		if !widest.First.IsValid() || widest.Count() < x.Count() {
			widest = x
		}
	}
	if !widest.First.IsValid() {
		return fmt.Sprintf("no address of %s is free for it: leave it out", e.CIDR)
	}
	return "give addresses in " + widest.brief()
}

// poolLeft is the pool without the addresses that it may not hold.
func (r *resolver) poolLeft() AddressSet {
	return r.spec.External.Pool.within(hosts(r.spec.External.CIDR)).Minus(r.poolHoles())
}

func (r *resolver) poolHoles() AddressSet {
	holes := r.othersOutside().with(r.spec.External.KubeAPIVIP)
	if r.faulty(pathVIP) {
		vip, _ := r.placeForVIP()
		holes = holes.with(vip)
	}
	return holes
}

// placeForVIP finds an address for the VIP on the external link: a free one after
// the pool where there is room, else a free one before it, else one that the pool
// must give up; the zero Addr where there is none.
func (r *resolver) placeForVIP() (vip netip.Addr, fromPool bool) {
	e := r.spec.External
	usable, others := hosts(e.CIDR), r.othersOutside()
	free := (AddressSet{usable}).Minus(append(others, e.Pool...))
	after := usable.First
	for _, x := range e.Pool.within(usable) {
		after = later(after, x.Last)
	}
	for _, x := range free {
		if after.Less(x.First) {
			return x.First, false
		}
	}
	if len(free) > 0 {
		return free[0].First, false
	}
	left := e.Pool.within(usable).Minus(others)
	switch {
	case len(left) == 0:
		return netip.Addr{}, false
	case left.Contains(e.KubeAPIVIP):
		return e.KubeAPIVIP, true
	}
	return left[len(left)-1].Last, true
}

// vipAdvice says what a VIP that the external link cannot have should be.
func (r *resolver) vipAdvice() string {
	e := r.spec.External
	vip, fromPool := r.placeForVIP()
	if vip.IsValid() && !fromPool {
		return "give a free one, like " + vip.String()
	}
	if !vip.IsValid() {
		return fmt.Sprintf("no address of %s is free: give it as %s", e.CIDR, pathClusterVIP)
	}
	advice := "no other address is free: "
	if vip != e.KubeAPIVIP {
		advice = fmt.Sprintf("no address is free: give %s, and ", vip)
	}
	left := e.Pool.within(hosts(e.CIDR)).Minus(r.othersOutside().with(vip))
	if len(left) == 0 {
		return advice + "leave " + pathPool + " out"
	}
	return advice + "shrink " + pathPool + " to " + left.value()
}

// value is the set as an operator can give it, its first ranges where it has too
// many to be read.
func (s AddressSet) value() string {
	const most = 10
	var parts []string
	for _, x := range s[:min(len(s), most)] {
		parts = append(parts, x.brief())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
