package verify

import (
	"fmt"
	"net/netip"
	"time"

	"homeward/cmd/homeward/internal/report/kube"
	"homeward/netplan"
)

// settling is how long a service may take to get its address.
const settling = 10 * time.Second

func servicePending(s *Snapshot, n *notes) {
	list, ok := s.needServices(n)
	if !ok {
		return
	}
	waiting, mine, by := 0, 0, holders(list)
	for _, b := range list {
		if b.foreign {
			continue
		}
		mine++
		if len(b.addresses)+len(b.six) > 0 {
			continue
		}
		waiting++
		n.remedy("see what MetalLB's controller says of it", fmt.Sprintf("kubectl -n %s describe service %s", b.key.Namespace, b.key.Name))
		if age := s.Taken.Sub(b.service.CreationTimestamp.Time); age < settling {
			n.warn("%s was made %s ago and has no address yet", b.key, age.Round(time.Second))
			continue
		}
		n.fail("%s has none: %s", b.key, s.whyPending(b, list, by))
	}
	n.saw("%d of %s have an address", mine-waiting, plural(mine, "service"))
}

// whyPending is the likeliest reason that can be seen from outside MetalLB.
func (s *Snapshot) whyPending(b balanced, list []balanced, by map[netip.Addr][]balanced) string {
	want, odd := b.wants()
	if odd != "" {
		return "it " + odd
	}
	for _, a := range want {
		if a.Is4() && !s.handedOut(a) {
			return fmt.Sprintf("it is pinned to %s, which no pool hands out", a)
		}
		for _, other := range by[a] {
			if other.key != b.key && len(other.addresses) > 0 {
				if why := clash(b, other); why != "" {
					return fmt.Sprintf("it is pinned to %s, which %s has, and they %s", a, other.key, why)
				}
			}
		}
	}
	if s.MetalLB.Err == nil && !s.controllerUp() {
		return "MetalLB's controller is not ready"
	}
	if free, known := s.freeAddresses(list); known && free == 0 {
		return "every address of the pools that are handed out by themselves is taken"
	}
	return "no reason can be seen here"
}

func (s *Snapshot) controllerUp() bool {
	for _, p := range s.component(kube.Controller) {
		if kube.PodReady(p) {
			return true
		}
	}
	return false
}

// handedOut says that some pool has an address; true where the pools are not known.
func (s *Snapshot) handedOut(a netip.Addr) bool {
	if s.Pools.Err != nil {
		return true
	}
	all, _ := s.extents()
	for _, e := range all {
		if e.set.Contains(a) {
			return true
		}
	}
	return false
}

// freeAddresses counts what is left of the pools that MetalLB hands out unasked.
func (s *Snapshot) freeAddresses(list []balanced) (free int, known bool) {
	if s.Pools.Err != nil {
		return 0, false
	}
	var auto netplan.AddressSet
	all, _ := s.extents()
	for _, e := range all {
		if e.Spec.AutoAssign == nil || *e.Spec.AutoAssign {
			auto = append(auto, e.set...)
		}
	}
	var taken netplan.AddressSet
	for _, b := range list {
		for _, a := range b.addresses {
			taken = append(taken, netplan.Range{First: a, Last: a})
		}
	}
	return auto.Minus(taken).Count(), true
}
