package netplan

import "net/netip"

// OpenStack is the provider that allocates the API's and the ingress's addresses
// itself: a port with a fixed address on the tenant network for each, and a
// floating IP in front of it. Its machines have one NIC.
const OpenStack Provider = "openstack"

// KubeAPIPort is the name of the reserved port for the API on OpenStack. A machine's
// port is named as the machine; network, subnet, router and security group are named
// as the cluster.
func (p *Plan) KubeAPIPort() string { return p.Name + "-kubeapi" }

// IngressPort is the name of the reserved port for the ingress.
func (p *Plan) IngressPort() string { return p.Name + "-ingress" }

// OpenStackSpec is the section openstack.
type OpenStackSpec struct {
	// URL is Keystone's; empty where clouds.yaml or the environment has it.
	URL string
	// ExternalNet is the network of the floating IPs, by name or id.
	ExternalNet      string
	Region           string
	AvailabilityZone string
	// IngressAddress and KubeAPIAddress are fixed IPs in network.cidr; the zero
	// Addr leaves the choice to Neutron.
	IngressAddress, KubeAPIAddress netip.Addr
	// IngressFloatingIP and KubeAPIFloatingIP are allocated already and adopted;
	// the zero Addr has one allocated.
	IngressFloatingIP, KubeAPIFloatingIP netip.Addr
}

// OpenStackCloud is where the cluster's network is made, and what the operator
// chose of its addresses.
type OpenStackCloud struct {
	URL string `json:"url,omitempty"`
	// ExternalNet is the network of the floating IPs, by name or id.
	ExternalNet      string `json:"external_net"`
	Region           string `json:"region,omitempty"`
	AvailabilityZone string `json:"availability_zone,omitempty"`
	// Ingress and KubeAPI are what the operator chose; what is zero there is the
	// cloud's to choose. What was allocated is in Plan.Ingress and Plan.KubeAPI.
	Ingress ChosenAddress `json:"ingress,omitzero"`
	KubeAPI ChosenAddress `json:"kubeapi,omitzero"`
}

// ChosenAddress is what the operator chose of one reserved port.
type ChosenAddress struct {
	// Fixed is on the tenant network.
	Fixed netip.Addr `json:"fixed,omitzero"`
	// Floating is allocated already, on the external network.
	Floating netip.Addr `json:"floating,omitzero"`
}
