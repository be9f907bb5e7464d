package inventory

import (
	"slices"

	"homeward/netplan"
)

// reach is how a NIC meets the segment.
type reach int

const (
	away    reach = iota
	trunked       // its untagged frames are elsewhere, but frames with the tag pass
	onIt          // what it sends untagged is on the segment
)

// reach says how a guest's NIC on a node meets the segment.
func (l *location) reach(node string, n NIC) reach {
	if n.Bridge == "" {
		return away // QEMU's user network
	}
	if vnets := l.vnets[n.Bridge]; len(vnets) > 0 {
		best := away
		for _, vnet := range vnets {
			best = max(best, l.reachVNet(node, vnet, n))
		}
		return best
	}
	if l.Segment.VNet != "" {
		return away
	}
	if l.isOn(node, n.Bridge, n.Tag) {
		return onIt
	}
	if l.carries(node, n) {
		return trunked
	}
	return away
}

func (l *location) reachVNet(node string, vnet VNet, n NIC) reach {
	if l.Segment.VNet == vnet.Name && l.Segment.VLAN == n.Tag {
		return onIt
	}
	zone := l.zones[vnet.Zone]
	// A tag inside a VNet is a network of its own, not the bridge's tag.
	if n.Tag == 0 && zone.Type == vlanZone && l.Segment.VNet == "" && l.isOn(node, zone.Bridge, netplan.VLAN(vnet.Tag)) {
		return onIt
	}
	return away
}

// isOn says whether a bridge and tag of a node are the segment. Of a node that was
// not read, or that does not have the bridge, it takes what is so on any other:
// bridges of one name are mostly alike, and a claim too many is seen, one too few
// is an outage.
func (l *location) isOn(node, bridge string, tag netplan.VLAN) bool {
	s := netplan.Segment{Bridge: bridge, VLAN: tag}
	if w := l.nodes[node]; w != nil && w.has(bridge) {
		return s == l.Segment || l.on[node][w.place(bridge, tag)]
	}
	return s == l.Segment || l.spelt[s]
}

// carries says whether frames with the segment's tag pass a NIC beside what it
// sends untagged: a plain bridge passes them all, a VLAN-aware one those of the
// NIC's trunks, or all of the bridge's where the NIC has neither tag nor trunks.
func (l *location) carries(node string, n NIC) bool {
	w := l.nodes[node]
	if w == nil || !w.has(n.Bridge) {
		return n.Bridge == l.Segment.Bridge && l.Segment.VLAN != 0 && passes(n, VLANSet{{2, maxVLAN}}, true, l.Segment.VLAN)
	}
	vids, aware := w.aware[n.Bridge]
	return slices.ContainsFunc(l.tags[node][w.root(n.Bridge)], func(tag netplan.VLAN) bool { return passes(n, vids, aware, tag) })
}

func passes(n NIC, vids VLANSet, aware bool, tag netplan.VLAN) bool {
	switch {
	case !aware:
		return n.Tag == 0
	case n.Trunks != nil:
		return n.Trunks.Contains(tag)
	}
	return n.Tag == 0 && vids.Contains(tag)
}
