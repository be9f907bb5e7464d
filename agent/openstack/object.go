package openstack

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Kind is a kind of object, by Neutron's name for one of them.
type Kind string

// The kinds.
const (
	KindNetwork  Kind = "network"
	KindSubnet   Kind = "subnet"
	KindRouter   Kind = "router"
	KindGroup    Kind = "security group"
	KindRule     Kind = "security group rule"
	KindPort     Kind = "port"
	KindFloating Kind = "floating IP"
	// KindInterface is a router's port in a subnet: no quota counts it when it is made.
	KindInterface Kind = "router interface"
)

// Object is what every object of Neutron's has.
type Object struct {
	ID          string
	Name        string
	Description string
	Tags        []string
	// Created is the zero time where the server does not say it.
	Created time.Time
	// Revision rises with each change; zero where the server does not say it.
	Revision int
	// Off says that a network, router or port is switched off (admin_state_up), or that
	// a subnet has no DHCP. Ours are made without.
	Off bool
}

func (o Object) object() Object { return o }

// before is the order in which all who look agree which of two is kept: by values
// that never change.
func (o Object) before(other Object) bool {
	if !o.Created.Equal(other.Created) {
		return o.Created.Before(other.Created)
	}
	return o.ID < other.ID
}

// Network is a network of the project, or an external one.
type Network struct {
	Object
	// NoPortSecurity says that ports here take no security groups and no pairs.
	NoPortSecurity bool
}

// Subnet is one of a network's.
type Subnet struct {
	Object
	NetworkID string
	CIDR      netip.Prefix
	Gateway   netip.Addr
	DNS       []netip.Addr
	// Pools are what Neutron chooses addresses from; only for a subnet that is made.
	Pools [][2]netip.Addr
}

// Router has the network of its gateway, empty without one.
type Router struct {
	Object
	ExternalID string
}

// Group is a security group with its rules.
type Group struct {
	Object
	Rules []GroupRule
}

// GroupRule is one rule as it stands in a group.
type GroupRule struct {
	ID          string
	Description string
	Rule
}

// Port is one port.
type Port struct {
	Object
	NetworkID string
	// DeviceOwner says what kind of thing has the port, "compute:nova" or
	// "network:dhcp"; DeviceID which. Both are empty while nothing has it.
	DeviceOwner, DeviceID string
	MAC                   string
	Fixed                 []FixedIP
	Groups                []string
	Pairs                 []Pair
}

// FixedIP is an address of a port in a subnet.
type FixedIP struct {
	SubnetID string
	Address  netip.Addr
}

// Pair is one of a port's allowed_address_pairs: what it may send from besides its own
// address. Address is as the server gives it, an address or a prefix.
type Pair struct{ Address, MAC string }

// FloatingIP is one of the project's.
type FloatingIP struct {
	Object
	Address netip.Addr
	// NetworkID is the external network's.
	NetworkID string
	// PortID is empty while it is on no port.
	PortID string
}

// address is the port's address in a subnet, or its first; the zero Addr without one.
func (p *Port) address(subnet string) netip.Addr {
	for _, f := range p.Fixed {
		if f.SubnetID == subnet {
			return f.Address
		}
	}
	if len(p.Fixed) > 0 {
		return p.Fixed[0].Address
	}
	return netip.Addr{}
}

func (p *Port) has(a netip.Addr) bool {
	return slices.ContainsFunc(p.Fixed, func(f FixedIP) bool { return f.Address == a })
}

// used says that something has the port: a server, or a service's.
func (p *Port) used() bool { return p.DeviceID != "" || p.DeviceOwner != "" }

// routers says that the port is a router's, and which one's DeviceID names.
func (p *Port) routers() bool {
	for _, prefix := range []string{"network:router_", "network:ha_router_"} {
		if strings.HasPrefix(p.DeviceOwner, prefix) {
			return true
		}
	}
	return false
}

// plug says that the port is a router's interface, not one that Neutron keeps besides.
func (p *Port) plug() bool {
	return p.routers() && !strings.HasPrefix(p.DeviceOwner, "network:router_centralized_snat")
}

// servant says that Neutron made the port for the network itself, and removes it with
// the network: DHCP and metadata.
func (p *Port) servant() bool {
	return p.DeviceOwner == "network:dhcp" || p.DeviceOwner == "network:distributed"
}

// Actual is what there is in a project, as far as a cluster's network is concerned.
type Actual struct {
	// Project is the id of the project of the token.
	Project string
	// External are all external networks that the project sees.
	External []Network
	// Networks, Subnets, Routers, Groups and Floating are the project's own.
	Networks []Network
	Subnets  []Subnet
	Routers  []Router
	Groups   []Group
	Floating []FloatingIP
	// Ports are all on networks of the owner's; Namesakes those of the project that
	// have the name of one of the owner's ports, wherever they are.
	Ports     []Port
	Namesakes []Port
	// Attached are, for a release, ports that use a router or a group of the
	// owner's on networks that are not the owner's.
	Attached []Port
}
