package inventory

import (
	"cmp"
	"fmt"
	"slices"

	"homeward/agent/ledger"
	"homeward/netplan"
)

// Locate gives the one name of a plan's segment under which all its spellings are
// kept, so that everybody reserves in the same record: a VNet of a vlan zone is its
// bridge and tag, and a bridge above one VLAN of another bridge is that bridge and
// VLAN. It fails where the name cannot be known or is another segment's too.
func Locate(s *Snapshot, segment netplan.Segment) (netplan.Segment, error) {
	at, err := locate(s, segment)
	if err != nil {
		return netplan.Segment{}, err
	}
	return at.Segment, nil
}

// location is one segment in a Proxmox cluster: where it comes out on each node.
type location struct {
	// Segment is its one name.
	Segment netplan.Segment
	// spellings are its other names on any node, sorted.
	spellings []netplan.Segment
	spelt     map[netplan.Segment]bool
	notes     []string

	nodes map[string]*wires
	zones map[string]Zone
	vnets map[string][]VNet
	// on has the segment's places on each node.
	on map[string]map[tagged]bool
	// tags has the segment's tags on the wires below it, by node and root.
	tags map[string]map[string][]netplan.VLAN
}

func locate(s *Snapshot, segment netplan.Segment) (*location, error) {
	l := &location{nodes: map[string]*wires{}, zones: map[string]Zone{}, vnets: map[string][]VNet{},
		on: map[string]map[tagged]bool{}, tags: map[string]map[string][]netplan.VLAN{}}
	for _, zone := range s.Zones {
		l.zones[zone.Name] = zone
	}
	for _, vnet := range s.VNets {
		l.vnets[vnet.Name] = append(l.vnets[vnet.Name], vnet)
	}
	isVNet := func(name string) bool { return len(l.vnets[name]) > 0 }
	for _, node := range s.Nodes {
		if len(node.Interfaces) > 0 {
			l.nodes[node.Name] = wire(node, isVNet)
		}
	}
	var err error
	if l.Segment, err = l.resolveVNet(segment); err != nil {
		return nil, err
	}
	if l.Segment.VNet == "" {
		l.resolveBridge()
		l.spell()
	}
	return l, l.distinct()
}

// resolveVNet turns a VNet of a vlan zone into its bridge and tag; other VNets are
// segments of their own.
func (l *location) resolveVNet(s netplan.Segment) (netplan.Segment, error) {
	if s.VNet == "" {
		return s, nil
	}
	vnets := l.vnets[s.VNet]
	if len(vnets) == 0 {
		return s, fmt.Errorf("VNet %s: the Proxmox cluster shows none of that name, so its segment is not known", clean(s.VNet))
	}
	vnet := vnets[0]
	for _, v := range vnets {
		if !v.Pending {
			vnet = v
			break
		}
	}
	zone, ok := l.zones[vnet.Zone]
	if !ok {
		return s, fmt.Errorf("VNet %s: the Proxmox cluster does not show its zone %s, so its segment is not known", clean(s.VNet), clean(vnet.Zone))
	}
	if zone.Type != vlanZone || s.VLAN != 0 {
		return s, nil
	}
	return netplan.Segment{Bridge: zone.Bridge, VLAN: netplan.VLAN(vnet.Tag)}, nil
}

// vlanZone is the type of the zones whose VNets are tags of a bridge. The others
// (simple, qinq, vxlan, evpn) make networks that no bridge and tag names.
const vlanZone = "vlan"

// resolveBridge takes the lowest of the segment's names on all nodes: a bridge and
// tag before an untagged bridge. Where a node has both and they differ there, the
// plan's own name stays.
func (l *location) resolveBridge() {
	own := l.Segment
	best := own
	for _, node := range l.nodeNames() {
		w := l.nodes[node]
		if !w.has(own.Bridge) {
			continue
		}
		for _, s := range w.spellings(w.place(own.Bridge, own.VLAN)) {
			if w.lower(s, best) {
				best = s
			}
		}
	}
	for _, node := range l.nodeNames() {
		w := l.nodes[node]
		if w.has(best.Bridge) && w.has(own.Bridge) && w.place(best.Bridge, best.VLAN) != w.place(own.Bridge, own.VLAN) {
			l.notes = append(l.notes, fmt.Sprintf("%s is also %s on some nodes, but not on %s: reservations are kept under the first",
				named(own), named(best), clean(node)))
			return
		}
	}
	l.Segment = best
}

// lower says whether a is to be preferred to b as a segment's name.
func (w *wires) lower(a, b netplan.Segment) bool {
	rank := func(s netplan.Segment) int {
		_, aware := w.aware[s.Bridge]
		switch {
		case aware && s.VLAN == 1:
			return 2 // another name of its untagged frames
		case s.VLAN == 0:
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), compareSegments(a, b)) < 0
}

// spell collects the segment's places and other names.
func (l *location) spell() {
	others := map[netplan.Segment]bool{}
	l.spelt = others
	for node, w := range l.nodes {
		if w.has(l.Segment.Bridge) {
			at := w.place(l.Segment.Bridge, l.Segment.VLAN)
			l.on[node] = map[tagged]bool{at: true}
			for _, s := range w.spellings(at) {
				others[s] = true
			}
		}
	}
	delete(others, l.Segment)
	for s := range others {
		l.spellings = append(l.spellings, s)
	}
	slices.SortFunc(l.spellings, compareSegments)
	l.elsewhere()
	for node, w := range l.nodes {
		l.tags[node] = map[string][]netplan.VLAN{}
		for at := range l.on[node] {
			for _, s := range w.spellings(at) {
				if root := w.root(s.Bridge); s.VLAN != 0 {
					l.tags[node][root] = append(l.tags[node][root], s.VLAN)
				}
			}
		}
	}
}

// elsewhere finds the segment on the nodes that do not have its bridge: where they
// have another of its names.
func (l *location) elsewhere() {
	for node, w := range l.nodes {
		if l.on[node] != nil {
			continue
		}
		l.on[node] = map[tagged]bool{}
		for _, s := range l.spellings {
			if w.has(s.Bridge) {
				l.on[node][w.place(s.Bridge, s.VLAN)] = true
			}
		}
	}
}

// distinct refuses a segment whose record another one would share.
func (l *location) distinct() error {
	var all []netplan.Segment
	for name, vnets := range l.vnets {
		if l.zones[vnets[0].Zone].Type != vlanZone {
			all = append(all, netplan.Segment{VNet: name, VLAN: l.Segment.VLAN})
		}
	}
	for _, w := range l.nodes {
		for _, bridge := range w.bridges {
			all = append(all, netplan.Segment{Bridge: bridge, VLAN: l.Segment.VLAN})
		}
	}
	slices.SortFunc(all, compareSegments)
	return ledger.CheckNames(l.Segment, slices.Compact(all))
}

func (l *location) nodeNames() []string {
	names := make([]string, 0, len(l.nodes))
	for name := range l.nodes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func compareSegments(a, b netplan.Segment) int {
	return cmp.Or(cmp.Compare(a.Bridge, b.Bridge), cmp.Compare(a.VNet, b.VNet), cmp.Compare(a.VLAN, b.VLAN))
}
