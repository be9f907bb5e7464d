package inventory

import (
	"slices"
	"strings"

	"homeward/netplan"
)

// wires is how the devices of one node hang together. A bridge and its ports are
// one wire; a VLAN interface is one tag of the wire below it, and two interfaces
// for one tag of one wire are one wire again. So vmbr0 tag 30, vmbr0.30, and a
// bridge whose port is eno1.30 while eno1 is vmbr0's port end in one place.
type wires struct {
	above   map[string]string // union-find over devices
	vlans   map[string]tagged // VLAN interface -> what it is
	byTag   map[tagged]string // root and tag -> a VLAN interface for it
	bridges []string          // sorted
	aware   map[string]VLANSet
}

// tagged is one tag of a device, or of the wire whose root the device is.
type tagged struct {
	device string
	tag    netplan.VLAN
}

// wire builds the wires of a node. Names of VNets are no bridges: which wire they
// are follows from their zone.
func wire(node Node, isVNet func(string) bool) *wires {
	w := &wires{above: map[string]string{}, vlans: map[string]tagged{}, byTag: map[tagged]string{}, aware: map[string]VLANSet{}}
	for _, i := range node.Interfaces {
		w.add(i.Name)
		if i.VLANRaw != "" && i.VLAN != 0 && i.VLANRaw != i.Name {
			w.vlan(i.Name, tagged{i.VLANRaw, i.VLAN})
		}
	}
	for _, i := range node.Interfaces {
		if !i.isBridge() {
			continue
		}
		if !isVNet(i.Name) {
			w.bridges = append(w.bridges, i.Name)
		}
		if i.VLANAware {
			w.aware[i.Name] = i.vids()
		}
		for _, port := range i.Ports {
			w.add(port)
			if w.vlans[port].device != i.Name { // else the bridge's own VLAN interface
				w.join(i.Name, port)
			}
		}
	}
	slices.Sort(w.bridges)
	w.bridges = slices.Compact(w.bridges)
	w.settle()
	return w
}

// isBridge says that guests can be plugged into it.
func (i Interface) isBridge() bool {
	return i.Type == "bridge" || i.Type == "OVSBridge" || len(i.Ports) > 0
}

// vids are the tags a VLAN-aware bridge lets through: all where nothing is said,
// and where it cannot be read, because a tag too many is the safe error.
func (i Interface) vids() VLANSet {
	set, err := ParseVLANs(i.VIDs)
	if err != nil || len(set) == 0 {
		return VLANSet{{2, maxVLAN}}
	}
	return set
}

// add makes a device known. One that is named like eno1.1691 is a VLAN interface,
// also where nothing but its name says so.
func (w *wires) add(device string) {
	if _, known := w.above[device]; known {
		return
	}
	w.above[device] = device
	at := strings.LastIndexByte(device, '.')
	if at <= 0 {
		return
	}
	if tag, err := parseVLAN(device[at+1:]); err == nil {
		w.vlan(device, tagged{device[:at], tag})
	}
}

func (w *wires) vlan(device string, of tagged) {
	w.add(of.device)
	w.vlans[device] = of
}

// root names the wire of a device; one that is not known is its own.
func (w *wires) root(device string) string {
	for {
		up, known := w.above[device]
		if !known || up == device {
			return device
		}
		if next, ok := w.above[up]; ok {
			w.above[device] = next // halves the path
		}
		device = up
	}
}

// join makes two wires one.
func (w *wires) join(a, b string) bool {
	ra, rb := w.root(a), w.root(b)
	if ra == rb {
		return false
	}
	w.above[max(ra, rb)] = min(ra, rb)
	return true
}

// settle joins the VLAN interfaces that are one tag of one wire, until no join
// brings two more together.
func (w *wires) settle() {
	devices := make([]string, 0, len(w.vlans))
	for device := range w.vlans {
		devices = append(devices, device)
	}
	slices.Sort(devices)
	for again := true; again; {
		again = false
		clear(w.byTag)
		for _, device := range devices {
			of := tagged{w.root(w.vlans[device].device), w.vlans[device].tag}
			if other, ok := w.byTag[of]; ok {
				again = w.join(other, device) || again
			}
			w.byTag[of] = device
		}
	}
}

// has says whether the node has the device.
func (w *wires) has(device string) bool {
	_, known := w.above[device]
	return known
}

// place is where frames with this tag on this device go: the same value for every
// spelling of one segment on this node. On a VLAN-aware bridge VLAN 1 is what goes
// out untagged.
func (w *wires) place(device string, tag netplan.VLAN) tagged {
	if _, aware := w.aware[device]; aware && tag == 1 {
		tag = 0
	}
	root := w.root(device)
	if tag == 0 {
		return tagged{root, 0}
	}
	if vlan, ok := w.byTag[tagged{root, tag}]; ok {
		return tagged{w.root(vlan), 0}
	}
	return tagged{root, tag}
}

// spellings are the bridges and tags that end in a place, sorted: an untagged
// bridge, and the tag of the bridge below it.
func (w *wires) spellings(at tagged) []netplan.Segment {
	var out []netplan.Segment
	for _, bridge := range w.bridges {
		root := w.root(bridge)
		if root == at.device {
			out = append(out, netplan.Segment{Bridge: bridge, VLAN: at.tag})
		}
		if _, aware := w.aware[bridge]; aware && root == at.device && at.tag == 0 {
			out = append(out, netplan.Segment{Bridge: bridge, VLAN: 1})
		}
		if at.tag != 0 {
			continue
		}
		for device, of := range w.vlans {
			if w.root(device) == at.device && w.root(of.device) == root {
				out = append(out, netplan.Segment{Bridge: bridge, VLAN: of.tag})
			}
		}
	}
	slices.SortFunc(out, compareSegments)
	return slices.Compact(out)
}
