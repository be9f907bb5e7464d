//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"

	"homeward/netplan"
)

// LegConfig says where a segment is to be found on this host.
type LegConfig struct {
	// Interface carries the segment untagged. With it the others are empty.
	Interface string
	// Bridge and VLAN: the segment is VLAN on Bridge, or the bridge's own untagged
	// network with VLAN zero.
	Bridge string
	VLAN   netplan.VLAN
}

// Leg is where this host meets a segment: an interface, and what was made so that
// it hears the segment. Close it, and what was made is gone.
//
// A VLAN-aware bridge (vlan_filtering) hands the frames of a VLAN to the host only
// when the bridge itself is a member of it (`bridge vlan add dev vmbr0 vid 1691
// self`), and vmbr0.1691 then receives them; both must be there, and either may be
// somebody else's. What we make carries our mark (see legmark.go), so that the next
// one to open the leg finds what a killed one has left.
type Leg struct {
	kernel *Kernel
	config LegConfig
	name   string
	made   []string
	// claim is held by the one that made what there is; nil for one that found
	// another agent's leg and only listens too.
	claim net.Listener
	// index of the marked interface, zero when nothing is ours.
	index int
}

// claimWait is how long to wait for another agent to finish making the leg.
const claimWait = 2 * time.Second

// OpenLeg finds or makes the leg. It needs NET_ADMIN only where something is
// missing.
func (k *Kernel) OpenLeg(ctx context.Context, c LegConfig) (*Leg, error) {
	leg := &Leg{kernel: k, config: c, name: c.Interface}
	if c.Interface != "" {
		return leg, nil
	}
	bridge, err := findBridge(c.Bridge)
	if err != nil {
		return nil, err
	}
	if c.VLAN == 0 {
		leg.name = c.Bridge
		return leg, nil
	}
	if leg.name, err = k.ready(ctx, bridge, c.VLAN); err != nil || leg.name != "" {
		return leg, err
	}
	if leg.claim, err = claimLeg(c); err != nil {
		return nil, err
	}
	if leg.claim == nil {
		return leg, leg.awaitOther(ctx, bridge)
	}
	if err := leg.make(ctx, bridge); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w: making what is missing needs CAP_NET_ADMIN", err)
		}
		return nil, errors.Join(err, leg.Close())
	}
	return leg, nil
}

// OnWire opens a segment for f, and takes away what was made for it, also when the
// context has ended. The errors before f say why this host is not on the segment.
func (k *Kernel) OnWire(ctx context.Context, c LegConfig, f func(*Wire) error) (err error) {
	leg, err := k.OpenLeg(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leg.Close()) }()
	for _, made := range leg.Made() {
		k.log.Info("making the leg", "interface", leg.Name(), "made", made)
	}
	w, err := k.OpenWire(ctx, leg.Name())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	return f(w)
}

// Name is the interface's.
func (l *Leg) Name() string { return l.name }

// Made are the things that were made or taken over from a killed agent, for a log;
// empty when everything was there.
func (l *Leg) Made() []string { return l.made }

// findBridge finds a bridge that is up.
func findBridge(name string) (*netlink.Bridge, error) {
	found, err := findLink("bridge", name)
	if err != nil {
		return nil, err
	}
	bridge, ok := found.(*netlink.Bridge)
	switch {
	case !ok:
		return nil, fmt.Errorf("%s is no Linux bridge, it is of kind %s: name the segment's interface instead", name, found.Type())
	case bridge.Flags&net.FlagUp == 0:
		return nil, fmt.Errorf("bridge %s is down: ip link set %s up", name, name)
	}
	return bridge, nil
}

// ready gives the interface that hears the VLAN already without anything of ours,
// "" when there is none.
func (k *Kernel) ready(ctx context.Context, bridge *netlink.Bridge, id netplan.VLAN) (string, error) {
	if !vlanAware(bridge) {
		if name, err := besideBridge(ctx, k.log, bridge, id); err != nil || name != "" {
			return name, err
		}
	}
	member, untagged, err := selfVLAN(ctx, k.log, bridge, id)
	if err != nil {
		return "", err
	}
	if untagged {
		return bridge.Name, nil
	}
	sub, err := subInterface(ctx, k.log, bridge, id)
	if err != nil || sub == nil || !member && vlanAware(bridge) || markOf(sub) != (mark{}) {
		return "", err
	}
	return sub.Attrs().Name, upOrRemedy(sub)
}

func vlanAware(b *netlink.Bridge) bool { return b.VlanFiltering != nil && *b.VlanFiltering }

func upOrRemedy(l netlink.Link) error {
	if name := l.Attrs().Name; l.Attrs().Flags&net.FlagUp == 0 {
		return fmt.Errorf("interface %s exists and is down: ip link set %s up", name, name)
	}
	return nil
}

// besideBridge finds the leg of a bridge that is not VLAN-aware: Proxmox VE then
// makes a bridge of its own for the VLAN, on a VLAN interface of the first one's
// port, which takes the frames before the first bridge sees them.
func besideBridge(ctx context.Context, log *slog.Logger, bridge *netlink.Bridge, id netplan.VLAN) (string, error) {
	all, err := dump(ctx, log, "links", netlink.LinkList)
	if err != nil {
		return "", err
	}
	byIndex := map[int]netlink.Link{}
	for _, l := range all {
		byIndex[l.Attrs().Index] = l
	}
	for _, l := range all {
		v, ok := l.(*netlink.Vlan)
		if !ok || v.VlanId != int(id) {
			continue
		}
		port, ok := byIndex[v.ParentIndex]
		if !ok || port.Attrs().MasterIndex != bridge.Index {
			continue
		}
		if master := byIndex[v.MasterIndex]; master != nil {
			return master.Attrs().Name, upOrRemedy(master)
		}
		return v.Name, upOrRemedy(v)
	}
	return "", nil
}

// subInterface finds the bridge's own VLAN interface, whatever its name; nil when
// there is none.
func subInterface(ctx context.Context, log *slog.Logger, bridge *netlink.Bridge, id netplan.VLAN) (netlink.Link, error) {
	all, err := dump(ctx, log, "links", netlink.LinkList)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(l netlink.Link) bool {
		v, ok := l.(*netlink.Vlan)
		return ok && v.ParentIndex == bridge.Index && v.VlanId == int(id) && v.VlanProtocol == netlink.VLAN_PROTOCOL_8021Q
	})
	if at < 0 {
		return nil, nil
	}
	return all[at], nil
}

// selfVLAN says whether the bridge itself is a member of the VLAN, and whether its
// frames come to the bridge's own interface without a tag.
func selfVLAN(ctx context.Context, log *slog.Logger, bridge *netlink.Bridge, id netplan.VLAN) (member, untagged bool, err error) {
	listed, err := dump(ctx, log, "VLANs of bridge "+bridge.Name, func() (flags []uint16, err error) {
		all, err := netlink.BridgeVlanList()
		for _, v := range all[int32(bridge.Index)] {
			if v.Vid == uint16(id) {
				flags = append(flags, v.Flags)
			}
		}
		return flags, err
	})
	if err != nil || len(listed) == 0 {
		return false, false, err
	}
	const untaggedPVID = nl.BRIDGE_VLAN_INFO_PVID | nl.BRIDGE_VLAN_INFO_UNTAGGED
	return true, vlanAware(bridge) && listed[0]&untaggedPVID == untaggedPVID, nil
}
