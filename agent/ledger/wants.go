package ledger

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"homeward/netplan"
)

// MaxWants is the largest plan that is reserved, in addresses: each costs the
// server two serial writes of about 95 ms, and the file system under a Proxmox
// cluster is small.
const MaxWants = 1024

// Want is an address that a plan asks for.
type Want struct {
	Address netip.Addr `json:"address"`
	Purpose Purpose    `json:"for"`
}

// WantsOf gives what a plan reserves on its external segment, ascending: the
// ingress pool, and the API's VIP where that is on the external link. It is empty
// for a plan without either, and fails for one with more than MaxWants.
func WantsOf(p *netplan.Plan) ([]Want, error) {
	if p.External == nil {
		return nil, nil
	}
	pool := p.External.IngressPool
	if n := pool.Count(); n > MaxWants {
		return nil, fmt.Errorf("reserving %d addresses: %d are the most, give a smaller ingress_pool", n, MaxWants)
	}
	var wants []Want
	for _, a := range p.External.IngressAddresses {
		wants = append(wants, Want{Address: a, Purpose: ForIngress})
	}
	if p.KubeAPI.VIP.IsValid() && p.KubeAPI.Link == netplan.LinkExternal {
		wants = append(wants, Want{Address: p.KubeAPI.VIP, Purpose: ForKubeAPI})
	}
	return sorted(wants)
}

// sorted gives the wants ascending and refuses what cannot be reserved.
func sorted(wants []Want) ([]Want, error) {
	wants = slices.Clone(wants)
	slices.SortFunc(wants, func(a, b Want) int { return a.Address.Compare(b.Address) })
	if len(wants) > MaxWants {
		return nil, fmt.Errorf("reserving %d addresses: %d are the most", len(wants), MaxWants)
	}
	for i, w := range wants {
		switch {
		case !w.Address.Is4():
			return nil, fmt.Errorf("reserving %s: only IPv4 addresses can be reserved", w.Address)
		case w.Purpose != ForIngress && w.Purpose != ForKubeAPI:
			return nil, fmt.Errorf("reserving %s for %q: %s and %s are the purposes", w.Address, w.Purpose, ForIngress, ForKubeAPI)
		case i > 0 && wants[i-1].Address == w.Address:
			return nil, errors.New("reserving " + w.Address.String() + " twice: for " + string(wants[i-1].Purpose) + " and for " + string(w.Purpose))
		}
	}
	return wants, nil
}

// find is the index of address in wants.
func find(wants []Want, address netip.Addr) (int, bool) {
	return slices.BinarySearchFunc(wants, address, func(w Want, a netip.Addr) int { return w.Address.Compare(a) })
}
