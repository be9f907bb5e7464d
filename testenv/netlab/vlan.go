//go:build linux

package netlab

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/vishvananda/netlink"
)

// envVLAN makes the external network of every cluster a VLAN of that number on a
// VLAN-aware bridge, as on Proxmox VE: untagged towards nodes and clients, tagged
// towards the router. The kernel needs 802.1Q; the tests are the same.
const envVLAN = "HOMEWARD_NETLAB_VLAN"

// routerTrunk is the router's NIC below routerExternal, where there is a VLAN.
const routerTrunk = "trunk"

// vlanFromEnvironment gives the VLAN of the external network, zero for none.
func vlanFromEnvironment() (int, error) {
	text := os.Getenv(envVLAN)
	if text == "" {
		return 0, nil
	}
	const defaultVLAN, last = 1, 4094
	id, err := strconv.Atoi(text)
	if err != nil || id <= defaultVLAN || id > last {
		return 0, fmt.Errorf("%s=%q: want a number from %d to %d", envVLAN, text, defaultVLAN+1, last)
	}
	return id, nil
}

// makeBridges makes the switch's bridges.
func (c *Cluster) makeBridges() error {
	if err := c.plugs.AddBridge(privateBridge); err != nil {
		return err
	}
	if c.vlan == 0 {
		return c.plugs.AddBridge(externalBridge)
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = externalBridge
	if err := c.plugs.nl.LinkAdd(&netlink.Bridge{LinkAttrs: attrs, VlanFiltering: new(true)}); err != nil {
		return fmt.Errorf("adding VLAN-aware bridge %s on %s: %w", externalBridge, c.plugs.name, err)
	}
	return c.plugs.SetUp(externalBridge)
}

// plugExternal makes a port of the switch one of the external network.
func (c *Cluster) plugExternal(port string) error {
	if err := c.plugs.Enslave(port, externalBridge); err != nil || c.vlan == 0 {
		return err
	}
	return c.setVLAN(port, false)
}

// setVLAN puts a port into the external network's VLAN and out of the bridge's
// default one.
func (c *Cluster) setVLAN(port string, tagged bool) error {
	return c.plugs.change(port, "setting the VLAN of", func(l netlink.Link) error {
		return errors.Join(
			c.plugs.nl.BridgeVlanDel(l, 1, true, true, false, false),
			c.plugs.nl.BridgeVlanAdd(l, uint16(c.vlan), !tagged, !tagged, false, false),
		)
	})
}

// wireRouter gives the router its leg in the external network.
func (c *Cluster) wireRouter() error {
	const port = "router-x"
	if c.vlan == 0 {
		return c.plug(c.Router, routerExternal, externalBridge, port)
	}
	return inOrder(
		func() error { return c.plug(c.Router, routerTrunk, externalBridge, port) },
		func() error { return c.setVLAN(port, true) },
		func() error { return c.Router.addVLAN(routerTrunk, routerExternal, c.vlan) },
	)
}

// addVLAN makes a VLAN link on another one and brings it up.
func (h *Host) addVLAN(below, name string, id int) error {
	lower, err := h.link(below)
	if err != nil {
		return err
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.ParentIndex = name, lower.Attrs().Index
	if err := h.nl.LinkAdd(&netlink.Vlan{LinkAttrs: attrs, VlanId: id, VlanProtocol: netlink.VLAN_PROTOCOL_8021Q}); err != nil {
		return fmt.Errorf("adding VLAN %d to link %s on %s: %w", id, below, h.name, err)
	}
	return h.SetUp(name)
}
