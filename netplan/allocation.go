package netplan

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Allocation is what a provider allocated for a plan. Its JSON form is
// allocation.json in the generated tree: `homeward reserve` writes it, `homeward
// generate` reads it.
type Allocation struct {
	// Cluster is the plan's name.
	Cluster string `json:"cluster"`
	// Owner is the id in homeward.id; two clusters may share a name.
	Owner   string           `json:"owner"`
	KubeAPI AllocatedAddress `json:"kubeapi"`
	Ingress AllocatedAddress `json:"ingress"`
}

// AllocatedAddress is one reserved port: both addresses are valid IPv4.
type AllocatedAddress struct {
	// Fixed is the address on the tenant network, which moves between machines.
	Fixed netip.Addr `json:"fixed"`
	// Floating is the address on the external network, which clients use.
	Floating netip.Addr `json:"floating"`
}

// Allocated gives the plan completed by what was allocated for it: both addresses
// of the API and of the ingress, the VIP, the endpoint where the operator gave
// none, the certificates' names and the Service's address. The plan itself stays as
// it is. The error says where the two contradict: another provider or cluster, an
// address that is missing, outside the network, or not the one that was chosen.
func (p *Plan) Allocated(a Allocation) (*Plan, error) {
	switch {
	case p.OpenStack == nil:
		return nil, fmt.Errorf("an allocation for provider %s: only %s allocates addresses", p.Provider, OpenStack)
	case a.Cluster != p.Name:
		return nil, fmt.Errorf("the allocation is cluster %s's, not %s's", Quote(a.Cluster), p.Name)
	case a.KubeAPI.Fixed == a.Ingress.Fixed && a.KubeAPI.Fixed.IsValid():
		return nil, fmt.Errorf("the allocation has %s for both the API and the ingress", a.KubeAPI.Fixed)
	case a.KubeAPI.Floating == a.Ingress.Floating && a.KubeAPI.Floating.IsValid():
		return nil, fmt.Errorf("the allocation has floating IP %s for both the API and the ingress", a.KubeAPI.Floating)
	}
	for _, x := range []struct {
		name   string
		chosen ChosenAddress
		got    AllocatedAddress
	}{{"kubeapi", p.OpenStack.KubeAPI, a.KubeAPI}, {"ingress", p.OpenStack.Ingress, a.Ingress}} {
		if err := p.fits(x.name, x.chosen, x.got); err != nil {
			return nil, err
		}
	}
	completed := *p
	completed.place(ChosenAddress(a.KubeAPI), ChosenAddress(a.Ingress))
	return &completed, nil
}

// Unallocated are the addresses that a plan on OpenStack does not know yet, by their
// names in its JSON ("kubeapi.fixed"). Nil when all are known, and on a provider that
// allocates none.
func (p *Plan) Unallocated() []string {
	if p.OpenStack == nil {
		return nil
	}
	var names []string
	for _, a := range []struct {
		name string
		addr netip.Addr
	}{
		{"kubeapi.fixed", p.KubeAPI.Fixed}, {"kubeapi.floating", p.KubeAPI.Floating},
		{"ingress.fixed", p.Ingress.Fixed}, {"ingress.floating", p.Ingress.Floating},
	} {
		if !a.addr.IsValid() {
			names = append(names, a.name)
		}
	}
	return names
}

// ErrUnallocated says that something needs addresses which are not allocated yet.
var ErrUnallocated = errors.New("addresses are not allocated yet")

// Complete is nil for a plan that knows all its addresses, else an error that wraps
// ErrUnallocated and names those that are missing.
func (p *Plan) Complete() error {
	if missing := p.Unallocated(); len(missing) > 0 {
		return fmt.Errorf("%w: %s", ErrUnallocated, strings.Join(missing, ", "))
	}
	return nil
}

// fits says where one allocated port contradicts the plan.
func (p *Plan) fits(name string, chosen ChosenAddress, got AllocatedAddress) error {
	for _, a := range []struct {
		field       string
		chosen, got netip.Addr
	}{{"fixed", chosen.Fixed, got.Fixed}, {"floating", chosen.Floating, got.Floating}} {
		switch {
		case !a.got.Is4():
			return fmt.Errorf("the allocation has no IPv4 address as %s.%s", name, a.field)
		case a.chosen.IsValid() && a.chosen != a.got:
			return fmt.Errorf("%s.%s is %s in the allocation, and %s in the plan", name, a.field, a.got, a.chosen)
		}
	}
	if !hosts(p.Cluster.CIDR).Contains(got.Fixed) {
		return fmt.Errorf("%s.fixed is %s in the allocation, which is no host's address in %s", name, got.Fixed, p.Cluster.CIDR)
	}
	for _, m := range p.Machines {
		if m.Address == got.Fixed {
			return fmt.Errorf("%s.fixed is %s in the allocation, which is %s's address in the plan", name, got.Fixed, m.Name)
		}
	}
	return nil
}

// place writes the addresses of both ports, as far as they are known, where the
// rest of the plan says what follows from them. It changes p.
func (p *Plan) place(api, ingress ChosenAddress) {
	k := &p.KubeAPI
	k.Port, k.Fixed, k.Floating = true, api.Fixed, api.Floating
	if api.Fixed.IsValid() {
		k.VIP, k.Link = api.Fixed, LinkCluster
	}
	if k.Endpoint == "" && api.Floating.IsValid() {
		k.Endpoint = "https://" + net.JoinHostPort(api.Floating.String(), strconv.Itoa(PortKubernetesAPI))
	}
	sans := []string{}
	for _, a := range []netip.Addr{api.Fixed, api.Floating} {
		if a.IsValid() {
			sans = append(sans, a.String())
		}
	}
	k.SANs = uniq(append(sans, k.SANs...))
	in := &p.Ingress
	in.Port, in.Fixed, in.Floating = true, ingress.Fixed, ingress.Floating
	in.Address = ingress.Fixed
}
