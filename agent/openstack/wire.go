package openstack

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// What Neutron's JSON has of each kind, as far as we look at it. Null is the zero value
// of everything here.

type wireObject struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	CreatedAt   string   `json:"created_at"`
	Revision    int      `json:"revision_number"`
	Up          *bool    `json:"admin_state_up"` // of networks, routers and ports
	DHCP        *bool    `json:"enable_dhcp"`    // of subnets
}

func (w wireObject) object() Object {
	off := w.Up != nil && !*w.Up || w.DHCP != nil && !*w.DHCP
	return Object{w.ID, w.Name, w.Description, w.Tags, moment(w.CreatedAt), w.Revision, off}
}

// id is what tells an answer with an object from one with anything else.
func (w wireObject) id() string { return w.ID }

// moment reads a time with or without its zone, which is UTC; the zero time for
// anything else.
func moment(text string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

type wireNetwork struct {
	wireObject
	PortSecurity *bool `json:"port_security_enabled"`
}

func (w wireNetwork) network() Network {
	return Network{Object: w.object(), NoPortSecurity: w.PortSecurity != nil && !*w.PortSecurity}
}

type wireSubnet struct {
	wireObject
	NetworkID string       `json:"network_id"`
	CIDR      netip.Prefix `json:"cidr"`
	Gateway   netip.Addr   `json:"gateway_ip"`
	DNS       []netip.Addr `json:"dns_nameservers"`
}

func (w wireSubnet) subnet() Subnet {
	return Subnet{Object: w.object(), NetworkID: w.NetworkID, CIDR: w.CIDR, Gateway: w.Gateway, DNS: w.DNS}
}

type wireRouter struct {
	wireObject
	Gateway struct {
		NetworkID string `json:"network_id"`
	} `json:"external_gateway_info"`
}

func (w wireRouter) router() Router {
	return Router{Object: w.object(), ExternalID: w.Gateway.NetworkID}
}

type wireGroup struct {
	wireObject
	Rules []wireRule `json:"security_group_rules"`
}

func (w wireGroup) group() Group {
	g := Group{Object: w.object()}
	for _, r := range w.Rules {
		g.Rules = append(g.Rules, r.rule())
	}
	return g
}

type wireRule struct {
	wireObject
	Direction    string       `json:"direction"`
	EtherType    string       `json:"ethertype"`
	Protocol     string       `json:"protocol"`
	From         *int         `json:"port_range_min"`
	To           *int         `json:"port_range_max"`
	Source       netip.Prefix `json:"remote_ip_prefix"`
	Group        string       `json:"remote_group_id"`
	AddressGroup string       `json:"remote_address_group_id"`
}

// rule reads a rule so that what means the same is equal.
func (w wireRule) rule() GroupRule {
	r := Rule{Egress: w.Direction == "egress", V6: w.EtherType == "IPv6", Protocol: strings.ToLower(w.Protocol), Source: w.Source.Masked(), Group: w.Group, Other: w.AddressGroup != ""}
	switch r.Protocol {
	case "any", "0":
		r.Protocol = ""
	case "1":
		r.Protocol = "icmp"
	case "6":
		r.Protocol = "tcp"
	case "17":
		r.Protocol = "udp"
	}
	if r.Source.Bits() <= 0 {
		r.Source = netip.Prefix{}
	}
	if w.From != nil {
		r.From = *w.From
	}
	if w.To != nil {
		r.To = *w.To
	}
	if r.Protocol == "icmp" && (w.From != nil || w.To != nil) {
		r.Other = true // one type only, and zero is one
	}
	return GroupRule{ID: w.ID, Description: w.Description, Rule: r}
}

// body is the rule as Neutron takes it, in a group.
func (r GroupRule) body(group string) map[string]any {
	b := map[string]any{"security_group_id": group, "direction": "ingress", "ethertype": "IPv4", "description": r.Description}
	if r.Egress {
		b["direction"] = "egress"
	}
	if r.V6 {
		b["ethertype"] = "IPv6"
	}
	if r.Protocol != "" {
		b["protocol"] = r.Protocol
	}
	if r.From != 0 || r.To != 0 {
		b["port_range_min"], b["port_range_max"] = r.From, r.To
	}
	if r.Source.IsValid() {
		b["remote_ip_prefix"] = r.Source.String()
	}
	if r.Rule.Group != "" {
		b["remote_group_id"] = r.Rule.Group
	}
	return b
}

type wirePort struct {
	wireObject
	NetworkID   string        `json:"network_id"`
	DeviceOwner string        `json:"device_owner"`
	DeviceID    string        `json:"device_id"`
	MAC         string        `json:"mac_address"`
	Fixed       []wireFixedIP `json:"fixed_ips"`
	Groups      []string      `json:"security_groups"`
	Pairs       []wirePair    `json:"allowed_address_pairs"`
}

type wireFixedIP struct {
	SubnetID string     `json:"subnet_id,omitempty"`
	Address  netip.Addr `json:"ip_address,omitzero"`
}

type wirePair struct {
	Address string `json:"ip_address"`
	MAC     string `json:"mac_address,omitempty"`
}

func (w wirePort) port() Port {
	p := Port{Object: w.object(), NetworkID: w.NetworkID, DeviceOwner: w.DeviceOwner, DeviceID: w.DeviceID, MAC: strings.ToLower(w.MAC), Groups: w.Groups}
	for _, f := range w.Fixed {
		p.Fixed = append(p.Fixed, FixedIP(f))
	}
	for _, x := range w.Pairs {
		p.Pairs = append(p.Pairs, Pair(x))
	}
	return p
}

// fixedBody and pairsBody are never nil: null means something else to Neutron.
func fixedBody(list []FixedIP) []wireFixedIP {
	out := make([]wireFixedIP, len(list))
	for i, f := range list {
		out[i] = wireFixedIP(f)
	}
	return out
}

func pairsBody(list []Pair) []wirePair {
	out := make([]wirePair, len(list))
	for i, p := range list {
		out[i] = wirePair(p)
	}
	return out
}

func (p Port) body() map[string]any {
	b := map[string]any{
		"network_id": p.NetworkID, "name": p.Name, "description": p.Description, "fixed_ips": fixedBody(p.Fixed),
		"security_groups": slices.Clone(p.Groups), "allowed_address_pairs": pairsBody(p.Pairs),
	}
	if p.MAC != "" {
		b["mac_address"] = p.MAC
	}
	return b
}

type wireFloating struct {
	wireObject
	Address   netip.Addr `json:"floating_ip_address"`
	NetworkID string     `json:"floating_network_id"`
	PortID    string     `json:"port_id"`
}

func (w wireFloating) floating() FloatingIP {
	return FloatingIP{Object: w.object(), Address: w.Address, NetworkID: w.NetworkID, PortID: w.PortID}
}

// place is where a kind's objects are, and what its body is called.
type place struct{ path, key string }

var places = map[Kind]place{
	KindNetwork:  {"networks", "network"},
	KindSubnet:   {"subnets", "subnet"},
	KindRouter:   {"routers", "router"},
	KindGroup:    {"security-groups", "security_group"},
	KindRule:     {"security-group-rules", "security_group_rule"},
	KindPort:     {"ports", "port"},
	KindFloating: {"floatingips", "floatingip"},
}
