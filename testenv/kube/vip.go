//go:build linux

package kube

import (
	"context"
	"fmt"
	"net/netip"

	"homeward/testenv/netlab"
)

// HoldVIP gives a control plane the API's address by hand, where its patch's
// Layer2VIPConfig says, and tells the network.
func (c *ControlPlane) HoldVIP() error {
	vip, err := c.vip()
	if err != nil {
		return err
	}
	if err := c.AddAddress(controlExternal, netip.PrefixFrom(vip, vip.BitLen())); err != nil {
		return err
	}
	return c.Gratuitous(controlExternal, vip)
}

// ReleaseVIP takes the API's address away.
func (c *ControlPlane) ReleaseVIP() error {
	vip, err := c.vip()
	if err != nil {
		return err
	}
	return c.RemoveAddress(controlExternal, netip.PrefixFrom(vip, vip.BitLen()))
}

func (c *ControlPlane) vip() (netip.Addr, error) {
	list, err := c.talos().documents(AgentPod)
	if err != nil {
		return netip.Addr{}, err
	}
	for _, d := range list {
		if d.Kind == "Layer2VIPConfig" && d.Link == externalAlias {
			return netip.ParseAddr(d.Name)
		}
	}
	return netip.Addr{}, fmt.Errorf("the patch of %s has no VIP on the external link", c.Name)
}

// DropVIPRule takes the VIP's routing rules away and gives what puts them back.
func (c *ControlPlane) DropVIPRule() (restore func() error, err error) {
	list, err := c.talos().documents(AgentPod)
	if err != nil {
		return nil, err
	}
	var rules []netlab.Rule
	for _, d := range list {
		if d.Kind != "RoutingRuleConfig" || !d.Src.IsValid() {
			continue
		}
		rule, err := d.rule()
		if err != nil {
			return nil, err
		}
		if err := c.DeleteRule(rule); err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	if len(rules) == 0 {
		return nil, fmt.Errorf("the patch of %s has no rule for the VIP", c.Name)
	}
	return func() error {
		for _, rule := range rules {
			if err := c.AddRule(rule); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// AsksAPI gives a condition: the API server behind the VIP answers a client.
func (l *Lab) AsksAPI(from *netlab.Host) func(context.Context) error {
	return func(ctx context.Context) error { return l.askAPI(ctx, from, apiURL(l.Net.Addresses.VIP)) }
}
