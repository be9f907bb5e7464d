//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// make brings the leg about: every step looks first whether it is done already, so
// that it also finishes what a killed agent began.
func (l *Leg) make(ctx context.Context, bridge *netlink.Bridge) error {
	sub, err := subInterface(ctx, l.kernel.log, bridge, l.config.VLAN)
	if err != nil {
		return err
	}
	if sub == nil {
		if sub, err = l.create(ctx, bridge); err != nil {
			return err
		}
	} else if had := markOf(sub); had != (mark{}) {
		l.made = append(l.made, "took over what an agent that was killed had left: "+sub.Attrs().Name)
	}
	l.index = sub.Attrs().Index
	ours := markOf(sub)
	if err := l.join(ctx, bridge, sub, &ours); err != nil {
		return err
	}
	l.name = sub.Attrs().Name
	if !ours.link {
		return upOrRemedy(sub)
	}
	return l.finish(bridge, sub)
}

// create makes the VLAN interface, down and under the name that marks it.
func (l *Leg) create(ctx context.Context, bridge *netlink.Bridge) (netlink.Link, error) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = bornAs + strconv.Itoa(int(l.config.VLAN))
	attrs.ParentIndex = bridge.Index
	err := netlink.LinkAdd(&netlink.Vlan{LinkAttrs: attrs, VlanId: int(l.config.VLAN), VlanProtocol: netlink.VLAN_PROTOCOL_8021Q})
	if err != nil {
		return nil, fmt.Errorf("adding VLAN %d to bridge %s: %w", l.config.VLAN, bridge.Name, err)
	}
	sub, err := subInterface(ctx, l.kernel.log, bridge, l.config.VLAN)
	if err == nil && sub == nil {
		err = fmt.Errorf("VLAN %d of bridge %s went away at once", l.config.VLAN, bridge.Name)
	}
	if err != nil {
		return nil, err
	}
	l.made = append(l.made, "interface "+l.finalName(bridge))
	return sub, setMark(sub, mark{link: true})
}

// join makes the bridge itself a member of the VLAN where it filters.
func (l *Leg) join(ctx context.Context, bridge *netlink.Bridge, sub netlink.Link, ours *mark) error {
	member, _, err := selfVLAN(ctx, l.kernel.log, bridge, l.config.VLAN)
	if err != nil || !vlanAware(bridge) {
		return err
	}
	if !member {
		ours.vid = true
	}
	if err := setMark(sub, *ours); err != nil || member {
		return err
	}
	if err := netlink.BridgeVlanAdd(bridge, uint16(l.config.VLAN), false, false, true, false); err != nil {
		return fmt.Errorf("bridge vlan add dev %s vid %d self: %w", bridge.Name, l.config.VLAN, err)
	}
	l.made = append(l.made, fmt.Sprintf("bridge vlan add dev %s vid %d self", bridge.Name, l.config.VLAN))
	return nil
}

// finalName is the one that an operator would give the interface, where it fits.
func (l *Leg) finalName(bridge *netlink.Bridge) string {
	name := fmt.Sprintf("%s.%d", bridge.Name, l.config.VLAN)
	if len(name) >= unix.IFNAMSIZ {
		return fmt.Sprintf("hw%d.%d", bridge.Index, l.config.VLAN)
	}
	return name
}

// finish gives our own interface its name and brings it up so that it only listens.
func (l *Leg) finish(bridge *netlink.Bridge, sub netlink.Link) error {
	if name := l.finalName(bridge); sub.Attrs().Name != name {
		if err := netlink.LinkSetName(sub, name); err != nil {
			return fmt.Errorf("renaming %s to %s: %w", sub.Attrs().Name, name, err)
		}
		l.name = name
	}
	if err := keepQuiet(sub); err != nil {
		return err
	}
	if err := netlink.LinkSetUp(sub); err != nil {
		return fmt.Errorf("setting %s up: %w", l.name, err)
	}
	return nil
}

// awaitOther waits for an agent that holds the claim to have its leg ready, and
// listens there too.
func (l *Leg) awaitOther(ctx context.Context, bridge *netlink.Bridge) error {
	for end := time.Now().Add(claimWait); ; {
		sub, err := subInterface(ctx, l.kernel.log, bridge, l.config.VLAN)
		if err != nil {
			return err
		}
		member, _, err := selfVLAN(ctx, l.kernel.log, bridge, l.config.VLAN)
		if err != nil {
			return err
		}
		if sub != nil && (member || !vlanAware(bridge)) && upOrRemedy(sub) == nil {
			l.name = sub.Attrs().Name
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("another agent holds VLAN %d on bridge %s, and its interface is not ready", l.config.VLAN, bridge.Name)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Close takes away what was made, the bridge's membership first: while the marked
// interface is there, whoever comes next can see what is left to do. An interface of
// ours that got an address or a master meanwhile is in use: it stays, without the
// mark. Closing twice does nothing.
func (l *Leg) Close() (err error) {
	if l.claim == nil {
		return nil
	}
	claim := l.claim
	l.claim = nil
	defer func() { err = errors.Join(err, claim.Close()) }()
	if l.index == 0 {
		return nil
	}
	sub, err := netlink.LinkByIndex(l.index)
	if err != nil {
		var gone netlink.LinkNotFoundError
		if errors.As(err, &gone) {
			return nil
		}
		return fmt.Errorf("finding interface %s: %w", l.name, err)
	}
	return l.unmake(sub)
}

func (l *Leg) unmake(sub netlink.Link) error {
	ours := markOf(sub)
	if ours.link {
		used, err := inUse(sub)
		if err != nil {
			return err
		}
		if used {
			return setMark(sub, mark{})
		}
	}
	if ours.vid {
		bridge, err := netlink.LinkByName(l.config.Bridge)
		if err != nil {
			return fmt.Errorf("finding bridge %s: %w", l.config.Bridge, err)
		}
		err = netlink.BridgeVlanDel(bridge, uint16(l.config.VLAN), false, false, true, false)
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("bridge vlan del dev %s vid %d self: %w", l.config.Bridge, l.config.VLAN, err)
		}
	}
	if !ours.link {
		return setMark(sub, mark{})
	}
	if err := netlink.LinkDel(sub); err != nil {
		return fmt.Errorf("removing interface %s: %w", l.name, err)
	}
	return nil
}

// inUse says that somebody has given our interface an address or a master. The
// address that IPv6 gives every interface by itself is nobody's.
func inUse(sub netlink.Link) (bool, error) {
	addresses, err := netlink.AddrList(sub, netlink.FAMILY_ALL)
	if err != nil {
		return false, fmt.Errorf("listing addresses of %s: %w", sub.Attrs().Name, err)
	}
	given := slices.ContainsFunc(addresses, func(a netlink.Addr) bool { return !a.IP.IsLinkLocalUnicast() || a.IP.To4() != nil })
	return given || sub.Attrs().MasterIndex != 0, nil
}
