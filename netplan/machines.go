package netplan

import (
	"cmp"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Proxmox's bounds of a VMID.
const minVMID, maxVMID = 100, 999_999_999

var nodeName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)

// machines lays what the operator says of single machines over what is derived,
// and refuses what two machines would share.
func (r *resolver) machines() {
	index := make(map[string]*Machine, len(r.plan.Machines))
	for i := range r.plan.Machines {
		m := &r.plan.Machines[i]
		index[m.Name] = m
	}
	for _, s := range r.spec.Machines {
		path := "machines." + s.Name
		m := index[s.Name]
		if m == nil {
			r.unknownMachine(path, s.Name)
			// What is said of it is checked all the same: its pool's count may be the
			// only thing that is wrong.
			m = &Machine{Name: s.Name, External: r.spec.External != nil}
		}
		r.identity(path, s, m)
		r.nics(path, s, m)
		r.addresses(path, s, m)
	}
	hasPool := r.spec.External != nil && len(r.spec.External.Pool) > 0
	workers := r.plan.HasWorkers()
	for i := range r.plan.Machines {
		m := &r.plan.Machines[i]
		reaches := hasPool && m.External || r.spec.OpenStack != nil
		m.Announces = reaches && (m.Role == RoleWorker || !workers)
	}
	r.unshared()
	r.externalVIPHolders()
}

func (r *resolver) unknownMachine(path, name string) {
	if len(r.plan.Machines) == 0 {
		return // the counts or the name have a fault already
	}
	var pools []string
	for i := 0; i < len(r.plan.Machines); {
		first, last := r.plan.Machines[i], r.plan.Machines[i]
		for i < len(r.plan.Machines) && r.plan.Machines[i].Pool == first.Pool {
			last, i = r.plan.Machines[i], i+1
		}
		whose := first.Name
		if last.Name != first.Name {
			whose += " to " + last.Name
		}
		pools = append(pools, whose)
		if prefix := first.Name[:strings.LastIndexByte(first.Name, '-')]; strings.HasPrefix(name, prefix+"-") {
			pools = []string{whose}
			break
		}
	}
	r.fault(path, "the plan has no such machine: it has %s", listed(pools))
}

// identity is where the machine runs.
func (r *resolver) identity(path string, s MachineSpec, m *Machine) {
	if s.VMID != nil {
		if *s.VMID < minVMID || *s.VMID > maxVMID {
			r.fault(path+".vmid", "%d is not a VMID: give %d to %d", *s.VMID, minVMID, maxVMID)
		} else {
			m.VMID = *s.VMID
		}
	}
	if s.Node != "" {
		if !nodeName.MatchString(s.Node) {
			r.fault(path+".node", "%s is not a Proxmox node's name: give letters, digits and dashes, like pve1", Quote(s.Node))
		} else {
			m.Node = s.Node
		}
	}
}

func (r *resolver) nics(path string, s MachineSpec, m *Machine) {
	m.MACs.Cluster = r.nic(path+".macs.cluster", s.ClusterMAC, m.MACs.Cluster)
	if m.External {
		m.MACs.External = r.nic(path+".macs.external", s.ExternalMAC, m.MACs.External)
		return
	}
	for _, x := range []struct {
		field string
		given bool
	}{
		{"macs.external", !s.ExternalMAC.IsZero()},
		{"external_address", s.ExternalAddress.IsValid()},
		{"anchor", s.Anchor.IsValid()},
	} {
		if x.given {
			r.fault(path+"."+x.field, "%s has no external NIC: leave it out", m.Name)
		}
	}
}

func (r *resolver) nic(path string, mac, derived MAC) MAC {
	if mac.IsZero() {
		return derived
	}
	if mac.IsMulticast() {
		unicast := mac
		unicast[0] &^= 1
		r.fault(path, "%s is a multicast address, which no NIC may have: give an even first byte, like %s", mac, unicast)
	}
	return mac
}

// addresses checks a machine's own addresses against its links.
func (r *resolver) addresses(path string, s MachineSpec, m *Machine) {
	if s.Address.IsValid() {
		m.Address = s.Address
		if r.spec.OpenStack != nil {
			r.portAddress(path+".address", s.Address)
			return
		}
		r.staticAddress(path+".address", s.Address)
	}
	if !m.External {
		return
	}
	m.Anchor = s.Anchor // only where given: the others are chosen at the end
	if s.Anchor.IsValid() {
		r.pinnedAnchor(path+".anchor", s.Anchor)
	}
	if s.ExternalAddress.IsValid() {
		m.ExternalAddress = s.ExternalAddress
		r.realAddress(path+".external_address", s.ExternalAddress)
	}
}

func (r *resolver) staticAddress(path string, a netip.Addr) {
	c := r.spec.Cluster
	if !c.CIDR.IsValid() || r.faulty(pathClusterCIDR) {
		return
	}
	usable := hosts(c.CIDR)
	switch {
	case !usable.Contains(a):
		r.clash(path, pathClusterCIDR, "%s is no host's address in %s: give one in %s-%s", a, c.CIDR, usable.First, usable.Last)
	case a == c.Gateway:
		r.clash(path, pathCluster+".gateway", "%s is also the gateway", a)
	case a == c.KubeAPIVIP:
		r.clash(path, pathClusterVIP, "%s is also kubeapi_vip", a)
	case slices.Contains(r.spec.DNS, a):
		r.clash(path, "network.dns", "%s is also a resolver", a)
	}
	router := usable.First
	if router == a {
		router = usable.Last
	}
	if !c.Gateway.IsValid() {
		r.clash(path, pathCluster+".gateway", "a static address needs a default route: give %s.gateway, like %s", pathCluster, router)
	}
	if len(r.spec.DNS) == 0 {
		r.clash(path, "network.dns", "a static address needs resolvers: give network.dns, like [%s]", router)
	}
}

func (r *resolver) realAddress(path string, a netip.Addr) {
	e := r.spec.External
	if !e.CIDR.IsValid() || r.faulty(pathExternal+".cidr") {
		return
	}
	usable := hosts(e.CIDR)
	switch {
	case !usable.Contains(a):
		r.clash(path, pathExternal+".cidr", "%s is no host's address in %s: give one in %s-%s", a, e.CIDR, usable.First, usable.Last)
	case a == e.Gateway:
		r.clash(path, pathGateway, "%s is also the gateway", a)
	case a == e.KubeAPIVIP:
		r.clash(path, pathVIP, "%s is also kubeapi_vip", a)
	case e.DHCP.Contains(a):
		r.clash(path, pathDHCP, "%s is handed out by DHCP", a)
	case e.Reserved.Contains(a):
		r.clash(path, pathReserved, "%s is reserved for another host", a)
	}
}

func (r *resolver) pinnedAnchor(path string, a netip.Addr) {
	cidr := r.spec.External.AnchorCIDR
	if !cidr.IsValid() || r.faulty(pathAnchors) {
		return
	}
	usable := hosts(cidr)
	switch {
	case !usable.Contains(a):
		r.clash(path, pathAnchors, "%s is no host's address in %s: give one in %s-%s", a, cidr, usable.First, usable.Last)
	case anchorUser(a) != "" || r.others()[a] != "":
		r.fault(path, "%s is %s: give another one in %s-%s", a, cmp.Or(anchorUser(a), r.others()[a]), usable.First, usable.Last)
	}
}

// externalVIPHolders refuses an external VIP that no control plane could hold.
func (r *resolver) externalVIPHolders() {
	if r.plan.KubeAPI.Link == LinkExternal && r.spec.ControlPlaneNoExternal {
		r.clash(pathVIP, poolControlPlane+".external", "the VIP is on the external link, but control planes have no NIC there: give it as %s, or leave external: false out", pathClusterVIP)
	}
}
