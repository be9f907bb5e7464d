package segment

import (
	"fmt"
	"net/netip"

	"homeward/netplan"
)

// The uses of addresses in a plan.
const (
	UseGateway  = "gateway"
	UseIngress  = "ingress"
	UseKubeAPI  = "kubeapi"
	UseMachine  = "machine"
	UseReserved = "reserved"
	// UseAsked is an address that only the command line names.
	UseAsked = "asked"
)

// Targets are the addresses of a plan's external segment that somebody has or shall
// have, each once: the gateway, the pool, the API's VIP, machines' own addresses, and
// what is reserved for others. What DHCP hands out is not among them. Nil for a plan
// without an external segment, an error for more than MaxAddresses.
func Targets(p *netplan.Plan) (out []Target, err error) {
	e := p.External
	if e == nil {
		return nil, nil
	}
	if n := e.IngressPool.Count() + e.Reserved.Count(); n > MaxAddresses {
		return nil, fmt.Errorf("pool and reserved addresses are %d: at most %d can be asked for", n, MaxAddresses)
	}
	seen := map[netip.Addr]bool{}
	add := func(t Target) {
		if t.Address.Is4() && !seen[t.Address] {
			seen[t.Address] = true
			out = append(out, t)
		}
	}
	add(Target{Address: e.Gateway, Use: UseGateway, Witness: true, Gateway: true})
	if p.KubeAPI.Link == netplan.LinkExternal {
		add(Target{Address: p.KubeAPI.VIP, Use: UseKubeAPI, Ours: true})
	}
	for _, a := range e.IngressPool.Merged().Addresses() {
		add(Target{Address: a, Use: UseIngress, Ours: true})
	}
	for _, m := range p.Machines {
		add(Target{Address: m.ExternalAddress, Use: UseMachine, Ours: true})
	}
	for _, a := range e.Reserved.Merged().Addresses() {
		add(Target{Address: a, Use: UseReserved})
	}
	return out, nil
}

// Names give the machines of a plan by their MACs. A machine's private NIC is named
// too: when it answers on the external segment, a NIC is on the wrong bridge.
func Names(p *netplan.Plan) map[netplan.MAC]string {
	names := map[netplan.MAC]string{}
	for _, m := range p.Machines {
		if !m.MACs.Cluster.IsZero() {
			names[m.MACs.Cluster] = m.Name + ", private NIC"
		}
		if !m.MACs.External.IsZero() {
			names[m.MACs.External] = m.Name
		}
	}
	return names
}
