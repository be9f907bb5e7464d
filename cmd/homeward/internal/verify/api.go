package verify

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"homeward/netplan"
)

func apiChecks() []check {
	return []check{
		{"api-address", "the API answers at the plan's address",
			"kubelets, kubectl and Talos's own discovery go by that address; a certificate without it is refused by all of them",
			apiAddress},
		{"api-endpoints", "API servers are in the private network",
			"pods reach the API by these: a floating or an external address there breaks when the VIP moves",
			apiEndpoints},
	}
}

// expiring is the part of its lifetime, as a divisor, that a certificate has left when
// there is a warning. Talos renews its own when half is left.
const expiring = 10

func apiAddress(s *Snapshot, n *notes) {
	shown, servers := 0, 0
	for _, d := range s.Doors {
		switch {
		case d.Certificate != nil:
			s.certificate(n, d)
			if !d.Planned {
				servers++
			}
		case d.Planned:
			s.closedDoor(n, d)
		}
		if d.Planned && d.Certificate != nil {
			shown++
			s.answeredDoor(n, d)
		}
	}
	if len(s.Doors) == 0 {
		n.unknown("nothing was asked")
		n.remedy("look at the plan's kubeapi_vip and kubeapi_endpoint", "homeward plan -f "+s.File)
	}
	if servers > 0 {
		n.saw("so do %s by their own addresses", plural(servers, "API server"))
	}
	if shown > 0 {
		n.unseen = "whether each node reaches it: kubectl get --raw /readyz from a pod with hostNetwork on that node shows it"
	}
}

// answeredDoor says what the answer of one of the plan's endpoints proves.
func (s *Snapshot) answeredDoor(n *notes, d Door) {
	if !d.OnLink || s.Plan.KubeAPI.Link == netplan.LinkCluster {
		n.saw("%s (%s) answers", d.Name, d.Address)
		return
	}
	n.warn("%s (%s) answers on this machine's own segment, without a router: that proves nothing of the return path", d.Name, d.Address)
	n.remedy("verify from a machine behind the external router", "")
}

// closedDoor says what an endpoint of the plan that did not answer looks like from
// here.
func (s *Snapshot) closedDoor(n *notes, d Door) {
	switch {
	case d.Cause == DoorTimeout && s.restricted():
		n.unknown("%s (%s) did not answer here, and security.kubernetes lets in only some: perhaps not this machine", d.Name, d.Address)
		n.remedy("verify from a machine that security.kubernetes lets in", "")
	case d.Cause == DoorTimeout && s.onOpenStack():
		n.fail("%s (%s) does not answer, and without security.kubernetes the security group lets nobody in there", d.Name, d.Address)
		n.remedy("say under security.kubernetes who may, then reserve", "homeward reserve -f "+s.File)
	case d.Cause == DoorNoWay:
		n.unknown("%s (%s) cannot be reached from here: %s", d.Name, d.Address, plain(d.Text))
		n.remedy("verify from a machine that has a way there", "")
	case d.Cause == DoorNoTLS:
		n.fail("%s (%s) is answered by something that is no API server: %s", d.Name, d.Address, plain(d.Text))
		s.whoHasIt(n)
	default:
		n.fail("%s (%s) does not answer: %s", d.Name, d.Address, d.Cause)
		n.remedy("see which control plane holds the VIP, and whether etcd has a quorum", "talosctl --nodes CONTROLPLANE get addresses")
	}
}

// whoHasIt is the remedy of an address that answers for somebody else.
func (s *Snapshot) whoHasIt(n *notes) {
	if s.onOpenStack() {
		n.remedy("see which port has the floating IP", "homeward status -f "+s.File+" --out "+s.Out)
		return
	}
	n.remedy("find who has that address, from a Proxmox host", "homeward-agent host --plan "+s.Out+"/plan.json --check")
}

// restricted says that the plan lets in only some to the API.
func (s *Snapshot) restricted() bool {
	return slices.ContainsFunc(s.Plan.Security, func(a netplan.Allow) bool { return a.Name == netplan.AllowKubernetes })
}

// certificate judges what a server showed.
func (s *Snapshot) certificate(n *notes, d Door) {
	var lacking []string
	for _, name := range s.Plan.KubeAPI.SANs {
		if err := d.Certificate.VerifyHostname(name); err != nil {
			lacking = append(lacking, name)
		}
	}
	if len(lacking) > 0 {
		n.fail("%s (%s): its certificate lacks %s", d.Name, d.Address, named(lacking))
		n.remedy("apply the control planes' configs, which have these certSANs", "homeward generate -f "+s.File+" --out "+s.Out)
	}
	lifetime := d.Certificate.NotAfter.Sub(d.Certificate.NotBefore)
	switch left := d.Certificate.NotAfter.Sub(s.Taken); {
	case left < 0:
		n.fail("%s (%s): its certificate ended on %s", d.Name, d.Address, d.Certificate.NotAfter.UTC().Format(time.DateOnly))
		n.remedy("see why Talos has not renewed it", "talosctl --nodes CONTROLPLANE logs kube-apiserver")
	case d.Untrusted == noAuthority:
		n.unknown("%s (%s): %s", d.Name, d.Address, noAuthority)
		n.remedy("use a kubeconfig with the cluster's CA", "talosctl kubeconfig")
	case d.Untrusted != "":
		n.fail("%s (%s): its certificate is not of this cluster: %s", d.Name, d.Address, plain(d.Untrusted))
		s.whoHasIt(n)
	case left < lifetime/expiring:
		n.warn("%s (%s): its certificate ends on %s", d.Name, d.Address, d.Certificate.NotAfter.UTC().Format(time.DateOnly))
		n.remedy("see why Talos has not renewed it", "talosctl --nodes CONTROLPLANE logs kube-apiserver")
	}
}

func apiEndpoints(s *Snapshot, n *notes) {
	slicesOf, ok := need(n, s.APIEndpoints)
	if !ok {
		return
	}
	servers := apiServers(slicesOf)
	if len(servers) == 0 {
		n.unknown("service default/kubernetes names no API server")
		n.remedy("see what the API server writes there", "kubectl -n default get endpointslices kubernetes -o yaml")
		return
	}
	planned := 0
	own := map[netip.Addr]bool{}
	for _, m := range s.Plan.Machines {
		if m.Role != netplan.RoleControlPlane {
			continue
		}
		planned++
		if node := s.nodes()[m.Name]; node != nil {
			for _, a := range internalIPs(*node) {
				own[a] = true
			}
		}
	}
	var shown []string
	for _, at := range servers {
		shown = append(shown, at.String())
		switch a := at.Addr(); {
		case a == s.Plan.KubeAPI.VIP:
			n.fail("%s is the API's VIP, which only one of them has", at)
		case !s.Plan.Cluster.CIDR.Contains(a):
			n.fail("%s is outside the private network %s", at, s.Plan.Cluster.CIDR)
		case len(own) > 0 && !own[a]:
			n.warn("%s is of no control plane of the plan", at)
		default:
			continue
		}
		n.remedy("apply the control planes' configs: they set the networks of kubelet and etcd", "homeward generate -f "+s.File+" --out "+s.Out)
	}
	if len(servers) != planned {
		n.warn("%s, and the plan has %s", plural(len(servers), "API server"), plural(planned, "control plane"))
		n.remedy("see which control plane does not serve", "talosctl --nodes CONTROLPLANE service")
	}
	n.saw("%s", strings.Join(shown, ", "))
}
