//go:build linux

package netlab

import (
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
)

// Connect lays a cable (a veth pair) between two hosts and brings both ends up.
func Connect(a *Host, linkA string, b *Host, linkB string) error {
	if err := lay(a, linkA, nil, b, linkB); err != nil {
		return err
	}
	return a.SetUp(linkA)
}

// lay is Connect with a's end down; mac is the hardware address of that end from
// the first moment on, nil leaves it to the kernel.
func lay(a *Host, linkA string, mac net.HardwareAddr, b *Host, linkB string) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = linkA
	attrs.HardwareAddr = mac
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: linkB, PeerNamespace: netlink.NsFd(b.FD())}
	if err := a.nl.LinkAdd(veth); err != nil {
		return fmt.Errorf("connecting %s %s to %s %s: %w", a.name, linkA, b.name, linkB, err)
	}
	return b.SetUp(linkB)
}

// AddBridge makes a bridge that is up and learns addresses; one host with
// bridges is a switch.
func (h *Host) AddBridge(name string) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = name
	if err := h.nl.LinkAdd(&netlink.Bridge{LinkAttrs: attrs}); err != nil {
		return fmt.Errorf("adding bridge %s on %s: %w", name, h.name, err)
	}
	return h.SetUp(name)
}

// Enslave makes a link a port of a bridge of the same host.
func (h *Host) Enslave(link, bridge string) error {
	master, err := h.link(bridge)
	if err != nil {
		return err
	}
	return h.change(link, "enslaving", func(l netlink.Link) error { return h.nl.LinkSetMaster(l, master) })
}

// Link gives a link's attributes: index, address, flags.
func (h *Host) Link(name string) (*netlink.LinkAttrs, error) {
	l, err := h.link(name)
	if err != nil {
		return nil, err
	}
	return l.Attrs(), nil
}

// SetUp brings a link up.
func (h *Host) SetUp(link string) error {
	return h.change(link, "bringing up", h.nl.LinkSetUp)
}

// SetDown brings a link down; the kernel flushes its routes.
func (h *Host) SetDown(link string) error {
	return h.change(link, "bringing down", h.nl.LinkSetDown)
}

// Rename gives a link another name. The kernel allows it while the link is up
// since 6.2; before, the link is taken down for a moment.
func (h *Host) Rename(link, name string) error {
	return h.change(link, "renaming", func(l netlink.Link) error {
		err := h.nl.LinkSetName(l, name)
		if err == nil || l.Attrs().Flags&net.FlagUp == 0 {
			return err
		}
		if err := h.nl.LinkSetDown(l); err != nil {
			return err
		}
		if err := h.nl.LinkSetName(l, name); err != nil {
			return err
		}
		return h.nl.LinkSetUp(l)
	})
}

// Delete removes a link, and with a cable its other end.
func (h *Host) Delete(link string) error {
	return h.change(link, "deleting", h.nl.LinkDel)
}

// SetMAC gives a link another hardware address.
func (h *Host) SetMAC(link string, mac net.HardwareAddr) error {
	return h.change(link, "setting the MAC of", func(l netlink.Link) error { return h.nl.LinkSetHardwareAddr(l, mac) })
}

// SetMTU sets a link's MTU, in bytes.
func (h *Host) SetMTU(link string, mtu int) error {
	return h.change(link, "setting the MTU of", func(l netlink.Link) error { return h.nl.LinkSetMTU(l, mtu) })
}

// SetAlias gives a link the alias (IFLA_IFALIAS) that Talos would give it.
func (h *Host) SetAlias(link, alias string) error {
	return h.change(link, "setting the alias of", func(l netlink.Link) error { return h.nl.LinkSetAlias(l, alias) })
}

func (h *Host) link(name string) (netlink.Link, error) {
	l, err := h.nl.LinkByName(name)
	if err != nil {
		return nil, fmt.Errorf("finding link %s on %s: %w", name, h.name, err)
	}
	return l, nil
}

// change finds a link and does one thing to it; doing is for the message.
func (h *Host) change(link, doing string, f func(netlink.Link) error) error {
	l, err := h.link(link)
	if err != nil {
		return err
	}
	if err := f(l); err != nil {
		return fmt.Errorf("%s link %s on %s: %w", doing, link, h.name, err)
	}
	return nil
}
