package provision

import (
	"encoding/json"
	"fmt"
	"net/netip"

	"homeward/netplan"
)

// tfMachine is one machine as Terraform sees it. Null is "not in the plan".
type tfMachine struct {
	Name      string       `json:"name"`
	Role      netplan.Role `json:"role"`
	VMID      *int         `json:"vmid"`
	Node      *string      `json:"node"`
	NICs      []nic        `json:"nics"`
	Addresses tfAddresses  `json:"addresses"`
}

// tfAddresses are without prefix lengths; a null cluster address means DHCP.
type tfAddresses struct {
	Cluster  *netip.Addr `json:"cluster"`
	External *netip.Addr `json:"external"`
	Anchor   *netip.Addr `json:"anchor"`
}

// TFVars renders network.tfvars.json: the variable machines, a map by hostname.
// Every machine has every key, so that Terraform sees one type.
func TFVars(p *netplan.Plan) ([]byte, error) {
	machines := make(map[string]tfMachine, len(p.Machines))
	for _, m := range p.Machines {
		out := tfMachine{Name: m.Name, Role: m.Role, NICs: nics(p, m), Addresses: tfAddresses{
			Cluster: known(m.Address), External: known(m.ExternalAddress), Anchor: known(m.Anchor),
		}}
		if m.VMID != 0 {
			out.VMID = &m.VMID
		}
		if m.Node != "" {
			out.Node = &m.Node
		}
		machines[m.Name] = out
	}
	text, err := json.MarshalIndent(map[string]any{"machines": machines}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding network.tfvars.json: %w", err)
	}
	return append(text, '\n'), nil
}

func known(a netip.Addr) *netip.Addr {
	if !a.IsValid() {
		return nil
	}
	return &a
}
