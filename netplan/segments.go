package netplan

import (
	"cmp"
	"fmt"
	"regexp"
)

// Names as the kernel and Proxmox take them.
var (
	bridgeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,14}$`)
	vnetName   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,7}$`)
)

// The bounds of an MTU in bytes: IPv6 needs 1280, jumbo frames end at 9216.
const (
	minMTU, maxMTU = 1280, 9216
)

// segments checks both links as the hypervisor has them, and that they differ.
func (r *resolver) segments() {
	r.plan.Cluster.Segment = r.segment(pathCluster, r.spec.Cluster)
	r.plan.Cluster.MTU = r.mtu(pathCluster, r.spec.Cluster.MTU)
	e := r.spec.External
	if e == nil {
		return
	}
	ext := r.plan.External
	ext.Segment = r.segment(pathExternal, e.LinkSpec)
	ext.MTU = r.mtu(pathExternal, e.MTU)
	if r.faulty(pathCluster+".vlan") || r.faulty(pathExternal+".vlan") {
		return
	}
	if ext.Segment == r.plan.Cluster.Segment && (ext.Bridge != "" || ext.VNet != "") {
		at, other := pathExternal+".vlan", pathCluster+".vlan"
		if e.VLAN == nil {
			at, other = pathExternal, pathCluster
		}
		r.clash(at, other, "both NICs are on %s: ARP would be answered from either; give the external link another bridge or VLAN", ext.Segment)
	}
}

// String names the segment as an operator does: "bridge vmbr0, VLAN 1691".
func (s Segment) String() string {
	name := "bridge " + s.Bridge
	if s.VNet != "" {
		name = "VNet " + s.VNet
	}
	if s.VLAN == 0 {
		return name + ", untagged"
	}
	return fmt.Sprintf("%s, VLAN %d", name, s.VLAN)
}

func (r *resolver) segment(path string, l LinkSpec) Segment {
	s := Segment{Bridge: l.Bridge, VNet: l.VNet}
	switch {
	case l.Bridge != "" && l.VNet != "":
		r.clash(path+".vnet", path+".bridge", "given beside a bridge: give one of the two")
	case l.Bridge == "" && l.VNet == "":
		r.fault(path+".bridge", "missing: give the Proxmox bridge, like %s, or a vnet", exampleBridge(path))
	case l.Bridge != "" && !bridgeName.MatchString(l.Bridge):
		r.fault(path+".bridge", "%s is not a bridge's name: give at most 15 letters, digits, dots, dashes or underscores, like vmbr0", Quote(l.Bridge))
	case l.VNet != "" && !vnetName.MatchString(l.VNet):
		r.fault(path+".vnet", "%s is not a VNet's name: give at most 8 letters and digits", Quote(l.VNet))
	}
	if l.VLAN != nil {
		if *l.VLAN < 1 || *l.VLAN > 4094 {
			r.fault(path+".vlan", "%d is not a VLAN: give 1 to 4094, or leave it out for untagged", *l.VLAN)
		} else {
			s.VLAN = VLAN(*l.VLAN)
		}
	}
	return s
}

func exampleBridge(path string) string {
	if path == pathCluster {
		return "vmbr1"
	}
	return "vmbr0"
}

func (r *resolver) mtu(path string, mtu *int) int {
	v := given(mtu, DefaultMTU)
	if v < minMTU || v > maxMTU {
		r.fault(path+".mtu", "%d bytes is not an MTU: give %d to %d", v, minMTU, maxMTU)
	}
	return v
}

// Name is the bridge or the VNet, what a NIC's configuration in Proxmox names.
func (s Segment) Name() string { return cmp.Or(s.VNet, s.Bridge) }
