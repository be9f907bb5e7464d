package verify

import (
	"fmt"
	"net/netip"
	"slices"

	"homeward/cmd/homeward/internal/allocation"
	"homeward/netplan"
)

// On OpenStack there is one address for services, that of the ingress port. The
// workers' ports let it through, the floating IP in front of it is what clients use,
// and the cloud's router sends replies back: nothing is marked.

// onOpenStack says so of the plan.
func (s *Snapshot) onOpenStack() bool { return s.Plan.OpenStack != nil }

// meaningOnOpenStack is the title and the reason of checks that mean something else there.
var meaningOnOpenStack = map[string]struct{ title, why string }{
	"node-addresses": {"nodes have addresses in the private network",
		"kubelet, etcd and MetalLB's speakers talk by a node's InternalIP; a machine's port lets only its own address through, and the reserved one"},
	"metallb-pool": {"MetalLB hands out the ingress port's address",
		"it is the only one that the workers' ports let through, and that has a floating IP"},
	"metallb-announcers": {"the plan's machines may announce, no others",
		"the workers' ports let the ingress address through, no others do: from another node it is not heard"},
	"control-planes-excluded": {"control planes announce only where planned",
		"the workers' ports let the ingress address through; the control planes' do where there are no workers"},
	"service-addresses": {"services have the ingress port's address",
		"no port lets another address through, and none has a floating IP"},
	"service-handshake": {"services answer a TCP handshake at the floating IP",
		"it is the whole way there and back: floating IP, security group, ports, MetalLB and pods"},
	"kube-proxy": {"what forwards leaves ARP to MetalLB",
		"kube-proxy in mode ipvs without strictARP has every node answer for every address, and not all ports let it through"},
}

// outsideOf is where clients reach an address: on OpenStack the floating IP in front of
// it.
func outsideOf(p *netplan.Plan, a netip.Addr) netip.Addr {
	if p.OpenStack != nil && a == p.Ingress.Fixed && p.Ingress.Floating.IsValid() {
		return p.Ingress.Floating
	}
	return a
}

// widen is the end of a remedy that takes addresses away which the plan has not.
func (s *Snapshot) widen(what string) string {
	if s.onOpenStack() {
		return fmt.Sprintf(": on OpenStack services have %s alone, and may share it", s.Plan.Ingress.Fixed)
	}
	return ", or take " + what + " into ingress_pool, reserve and generate"
}

// floating says whose floating IP an address is; empty where it is none of the plan's.
func (s *Snapshot) floating(a netip.Addr) string {
	switch {
	case !a.IsValid():
	case a == s.Plan.Ingress.Floating:
		return "the ingress's floating IP"
	case a == s.Plan.KubeAPI.Floating:
		return "the API's floating IP"
	}
	return ""
}

// lets says what the plan's security group does with a TCP port: open to anybody, to
// some, or closed.
func (s *Snapshot) lets(port int) (open, some bool) {
	at := slices.IndexFunc(s.Plan.Security, func(a netplan.Allow) bool { return a.Port == port })
	if at >= 0 {
		return true, true
	}
	return port == netplan.PortHTTP || port == netplan.PortHTTPS, false
}

// noAnswerOnOpenStack says what the floating IP that did not answer looks like from
// here, and false where it looks as anywhere.
func (s *Snapshot) noAnswerOnOpenStack(n *notes, k Knock) bool {
	if !s.onOpenStack() || k.Refused || !s.inPool(k.Address) {
		return false
	}
	switch open, some := s.lets(int(k.Target.Port())); {
	case !open:
		n.fail("%s (%s): no answer (%s), and the security group does not let port %d in", k.Target, k.Service, k.Causes, k.Target.Port())
		n.remedy("name the port under security with who may, then reserve", "homeward reserve -f "+s.File)
	case some:
		n.unknown("%s (%s): no answer (%s), and the plan's security lets in only some: perhaps not this machine", k.Target, k.Service, k.Causes)
		n.remedy("verify from a machine that it lets in", "")
	default:
		return false
	}
	return true
}

// allocated judges what a status says of the cloud.
func allocated(s *Snapshot, n *notes) {
	status, r := "homeward status -f "+s.File+" --out "+s.Out, s.Reservation.Cloud
	for _, c := range r.Conflicts {
		n.fail("%s", plain(c.Message))
		n.remedy(plain(c.Remedy), status)
	}
	for _, step := range r.Steps {
		n.fail("not as planned: %s", plain(step.Words))
		n.remedy("reserve again: what is missing is made first, then what is old removed", "homeward reserve -f "+s.File+" --out "+s.Out)
	}
	for _, l := range r.Left {
		n.warn("%s", plain(l.Message))
		n.remedy("see what uses it", status)
	}
	if r.Stale != "" {
		n.fail("%s", plain(r.Stale))
		n.remedy("reserve and generate again, then apply what changed", "homeward reserve -f "+s.File+" --out "+s.Out)
	}
	switch {
	case r.Outcome == allocation.Unknown:
		n.unknown("%s", plain(r.Error))
		n.remedy("see what the cloud says", status)
	case r.Outcome == allocation.Failed:
		n.fail("%s", plain(r.Error))
		n.remedy("see what the cloud says", status)
	}
	n.saw("%s of %s", plural(len(r.Objects), "object"), s.Plan.Name)
}
