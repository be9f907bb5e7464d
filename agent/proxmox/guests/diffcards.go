package guests

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// card brings one NIC to what the plan says, and keeps its other options. Proxmox
// changes bridge, tag and firewall of a running guest in place; another model, MAC
// or MTU is a NIC that is pulled out and put in again.
func (b *builder) card(c Card, index int, cards map[int]inventory.NIC, found bool, blocked []string) {
	key := nicKey(index)
	b.waiting(key)
	if !found {
		if b.onBridge(key, c) {
			b.setCard(key, c.fresh(b.bridgeMTU(c)), false, "add the NIC %s on %s", key, c.Bridge)
		}
		return
	}
	cur := cards[index]
	b.unplugged(key, cur)
	live, full, err := c.wanted(cur, b.firewall(key, cur, blocked), b.bridgeMTU(c))
	if err != nil {
		b.item(nil, "%s is left as it is: %v", key, err)
		return
	}
	replugs := !full.Equal(live) && b.a.Running
	switch {
	case full.Equal(cur) || !b.onBridge(key, c):
	case !replugs || b.o.AllowReplug:
		b.setCard(key, full.String(), replugs, "%s", changes(key, cur, full))
	default:
		// Under another MAC it is perhaps not our NIC: then it is not moved either.
		if !live.Equal(cur) && cur.MAC == c.MAC {
			b.setCard(key, live.String(), false, "%s", changes(key, cur, live))
		}
		b.item([]string{b.a.qmSet(key, full.String())},
			"%s, which re-plugs the NIC of a running guest: allow it (--allow-replug), or do it in a quiet moment on node %s", changes(key, cur, full), b.a.Node)
	}
}

// onBridge says whether a NIC may be put on its bridge, and reports why not: a
// running guest's would be taken off the old one and find no new one.
func (b *builder) onBridge(key string, c Card) bool {
	bridge, known := b.s.find(b.a.Node, c.Bridge)
	switch {
	case known && bridge == nil:
		b.item(nil, "%s is left as it is: %s is not to be seen on node %s", key, c.Bridge, b.a.Node)
	case bridge != nil && bridge.MTU != 0 && bridge.MTU < c.MTU:
		b.item(nil, "%s is left as it is: %s on node %s has MTU %d, less than the plan's %d", key, c.Bridge, b.a.Node, bridge.MTU, c.MTU)
	default:
		return true
	}
	return false
}

func (b *builder) setCard(key, value string, replugs bool, format string, args ...any) {
	s := b.step(partConfig, put(b.path("config"), url.Values{key: {value}}), format, args...)
	s.Replugs = replugs
	s.guard(b.a.Digest)
}

// fresh is the property string of a NIC that is not there yet, the keys in the order
// in which Proxmox writes them back.
func (c Card) fresh(bridgeMTU int) string {
	s := nicModel + "=" + strings.ToUpper(c.MAC.String()) + ",bridge=" + c.Bridge + ",firewall=1"
	if c.MTU != netplan.DefaultMTU || bridgeMTU != 0 && bridgeMTU != c.MTU {
		s += ",mtu=" + strconv.Itoa(c.MTU)
	}
	if c.Tag != 0 {
		s += ",tag=" + strconv.Itoa(int(c.Tag))
	}
	return s
}

// wanted gives the NIC with what can change in place, and with everything.
func (c Card) wanted(cur inventory.NIC, firewall bool, bridgeMTU int) (live, full inventory.NIC, err error) {
	live = cur
	set := func(n *inventory.NIC, differs bool, key, value string) {
		if !differs || err != nil {
			return
		}
		if value == "" {
			*n, err = n.Without(key)
		} else {
			*n, err = n.With(key, value)
		}
	}
	tag := ""
	if c.Tag != 0 {
		tag = strconv.Itoa(int(c.Tag))
	}
	set(&live, cur.Bridge != c.Bridge, "bridge", c.Bridge)
	set(&live, cur.Tag != c.Tag, "tag", tag)
	set(&live, firewall && !cur.Firewall, "firewall", "1")
	full = live
	set(&full, cur.Model != nicModel, "model", nicModel)
	set(&full, cur.MAC != c.MAC, "macaddr", strings.ToUpper(c.MAC.String()))
	set(&full, !c.mtuFits(cur.MTU, bridgeMTU), "mtu", strconv.Itoa(c.MTU))
	if cur.Bridge == "" {
		// From QEMU's user network to a bridge is another device behind the NIC.
		live = cur
	}
	return live, full, err
}

// mtuFits says whether a NIC's mtu option comes to the plan's MTU: absent and 1 are
// the bridge's. What is not known of the bridge is taken for right.
func (c Card) mtuFits(mtu, bridge int) bool {
	switch {
	case mtu > 1:
		return mtu == c.MTU
	case bridge != 0:
		return bridge == c.MTU
	case mtu == 1:
		return true
	}
	return c.MTU == netplan.DefaultMTU
}

// firewall says what the NIC's switch should be: on, but not where that would put
// something in force that cuts the guest off.
func (b *builder) firewall(key string, cur inventory.NIC, blocked []string) bool {
	if cur.Firewall {
		return true
	}
	why := ""
	switch {
	case !b.d.Governs() && b.a.on("enable"):
		why = "the guest's own rules, which are not ours, would come into force there: look whether they let the cluster's traffic in"
	case b.d.Governs() && len(blocked) > 0 && !b.a.on("enable"):
		why = "the guest's is, too"
	case b.d.Governs() && len(blocked) > 0:
		why = strings.Join(blocked, "; ")
	default:
		return true
	}
	if with, err := cur.With("firewall", "1"); err == nil {
		b.item([]string{b.a.qmSet(key, with.String())}, "%s has the firewall off, so that no rule counts there; it is left off because %s", key, why)
	}
	return false
}

// unplugged reports a NIC that is switched off.
func (b *builder) unplugged(key string, cur inventory.NIC) {
	if with, err := cur.Without("link_down"); err == nil && cur.LinkDown {
		b.item([]string{b.a.qmSet(key, with.String())}, "%s is unplugged (link_down=1)", key)
	}
}

// waiting reports a change that the running guest has not taken over.
func (b *builder) waiting(key string) {
	now, then := b.a.Current[key], b.a.Config[key]
	if b.a.Running && now != then {
		b.item([]string{"qm reboot " + strconv.Itoa(b.a.VMID)}, "%s becomes %s when the guest is started again on node %s; until then it is %s",
			key, nothing(then), b.a.Node, nothing(now))
	}
}

func nothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// changes says in words how a NIC changes.
func changes(key string, from, to inventory.NIC) string {
	var list []string
	add := func(what string, a, b any) {
		if a != b {
			list = append(list, fmt.Sprintf("%s from %v to %v", what, a, b))
		}
	}
	add("model", from.Model, to.Model)
	add("MAC", from.MAC, to.MAC)
	add("bridge", nothing(from.Bridge), nothing(to.Bridge))
	add("tag", from.Tag, to.Tag)
	add("MTU", from.MTU, to.MTU)
	add("firewall", onOff(from.Firewall), onOff(to.Firewall))
	return "change " + key + ": " + strings.Join(list, ", ")
}
