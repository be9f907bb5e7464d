package proxmox

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"net/url"

	"golang.org/x/sync/errgroup"

	"homeward/agent/ledger/exchange"
	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// sdnObject is one that can have values which are not applied yet. The server gives
// the running ones, and in "pending" those that differ, with "deleted" for what goes;
// of a new object all but its name and type.
type sdnObject[T any] struct {
	State string
	// Now are the running values, Next those after the next apply.
	Now, Next T
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *sdnObject[T]) UnmarshalJSON(data []byte) error {
	var envelope struct {
		State   string                     `json:"state"`
		Pending map[string]json.RawMessage `json:"pending"`
	}
	if err := errors.Join(json.Unmarshal(data, &envelope), json.Unmarshal(data, &o.Now), json.Unmarshal(data, &o.Next)); err != nil {
		return err
	}
	o.State = envelope.State
	for name, value := range envelope.Pending {
		if string(value) == `"deleted"` {
			envelope.Pending[name] = json.RawMessage("null")
		}
	}
	pending, err := json.Marshal(envelope.Pending)
	if err != nil {
		return err
	}
	return json.Unmarshal(pending, &o.Next)
}

// isNew says that nothing of it is applied.
func (o sdnObject[T]) isNew() bool { return o.State == "new" }

// current is what is in force, or will be where nothing is yet.
func (o sdnObject[T]) current() T {
	if o.isNew() {
		return o.Next
	}
	return o.Now
}

type sdnZone struct {
	Zone   string `json:"zone"`
	Type   Text   `json:"type"`
	Bridge Text   `json:"bridge"`
	DHCP   Text   `json:"dhcp"`
	IPAM   Text   `json:"ipam"`
}

type sdnVNet struct {
	VNet  string `json:"vnet"`
	Zone  Text   `json:"zone"`
	Tag   Number `json:"tag"`
	Alias Text   `json:"alias"`
}

func withPending() url.Values { return url.Values{"pending": {"1"}} }

// zones reads the zones. One that is new has no guests yet, but its VNets may have
// subnets already.
func (r *reader) zones(ctx context.Context) error {
	var list []sdnObject[sdnZone]
	if err := r.get(ctx, "", Path("cluster", "sdn", "zones"), withPending(), &list); err != nil {
		return r.failed(ctx, "SDN zones", err)
	}
	r.add(func(s *inventory.Snapshot) {
		for _, o := range list {
			z := o.current()
			s.Zones = append(s.Zones, inventory.Zone{Name: z.Zone, Type: string(z.Type), Bridge: string(z.Bridge), DHCP: string(z.DHCP), IPAM: string(z.IPAM)})
		}
	})
	return nil
}

// vnets reads the VNets and their subnets.
func (r *reader) vnets(ctx context.Context) error {
	var list []sdnObject[sdnVNet]
	if err := r.get(ctx, "", Path("cluster", "sdn", "vnets"), withPending(), &list); err != nil {
		return r.failed(ctx, "SDN VNets and subnets", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, o := range list {
		v := o.current()
		if err := mustMatch("an SDN VNet", v.VNet, sdnName); err != nil {
			r.unread("SDN VNets", err.Error())
			continue
		}
		r.add(func(s *inventory.Snapshot) {
			s.VNets = append(s.VNets, inventory.VNet{Name: v.VNet, Zone: string(v.Zone), Tag: int(v.Tag), Alias: string(v.Alias), Pending: o.isNew()})
		})
		group.Go(func() error { return r.subnets(ctx, v.VNet, string(v.Zone)) })
	}
	return group.Wait()
}

// subnets reads those of one VNet. Of a changed one both states are kept: what is
// handed out now, and what will be.
func (r *reader) subnets(ctx context.Context, vnet, zone string) error {
	var list []sdnObject[sdnSubnet]
	err := r.get(ctx, "", Path("cluster", "sdn", "vnets", vnet, "subnets"), withPending(), &list)
	if gone(err) {
		return nil
	}
	if err != nil {
		return r.failed(ctx, "SDN subnets of VNet "+vnet, err)
	}
	for _, o := range list {
		states := []sdnSubnet{o.current()}
		if o.State == "changed" {
			states = append(states, o.Next)
		}
		for i, state := range states {
			subnet, ok := state.convert(vnet, zone)
			if !ok {
				r.unread("SDN subnet "+exchange.OneLine(o.Now.ID), "its network or a range of its DHCP is no IPv4 network we can read")
				continue
			}
			subnet.Pending = i > 0 || o.isNew()
			r.add(func(s *inventory.Snapshot) { s.Subnets = append(s.Subnets, subnet) })
		}
	}
	return nil
}

// ipam reads the entries of SDN's own IPAM.
func (r *reader) ipam(ctx context.Context) error {
	var list []ipamEntry
	err := r.get(ctx, "", ipamStatus(), nil, &list)
	if gone(err) {
		return nil
	}
	if err != nil {
		return r.failed(ctx, "SDN IPAM", err)
	}
	r.add(func(s *inventory.Snapshot) {
		for _, e := range list {
			a, err := netip.ParseAddr(e.IP)
			if err != nil || !a.Is4() {
				continue // IPv6 is nobody's rival here
			}
			m, _ := netplan.ParseMAC(string(e.MAC)) // a gateway has none
			s.IPAM = append(s.IPAM, inventory.IPAMEntry{
				Address: a, MAC: m, VMID: int(e.VMID), Hostname: string(e.Hostname),
				Zone: e.Zone, Subnet: string(e.Subnet), VNet: e.VNet, Gateway: bool(e.Gateway),
			})
		}
	})
	return nil
}
