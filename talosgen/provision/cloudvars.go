package provision

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	"homeward/netplan"
)

// cloudMachine is one machine on OpenStack as Terraform sees it. Null is "Neutron's
// choice".
type cloudMachine struct {
	Name string       `json:"name"`
	Role netplan.Role `json:"role"`
	// Port is the name of the port that homeward reserve makes; it has the security
	// group and the address pairs already.
	Port    string      `json:"port"`
	MAC     string      `json:"mac"`
	Address *netip.Addr `json:"address"`
	// Config is the machine's whole configuration in the generated tree, which the
	// server gets as user data.
	Config string `json:"config"`
}

// CloudVars renders openstack/network.tfvars.json for a plan on OpenStack: the
// variables network and security_group, names of what homeward reserve makes, and
// machines, a map by hostname in which every machine has every key.
func CloudVars(p *netplan.Plan) ([]byte, error) {
	if p.OpenStack == nil {
		return nil, errors.New("the plan is not for OpenStack")
	}
	machines := make(map[string]cloudMachine, len(p.Machines))
	for _, m := range p.Machines {
		machines[m.Name] = cloudMachine{
			Name: m.Name, Role: m.Role, Port: m.Name, MAC: m.MACs.Cluster.String(), Address: known(m.Address),
			Config: "machines/" + m.Name + ".yaml",
		}
	}
	text, err := json.MarshalIndent(map[string]any{"network": p.Name, "security_group": p.Name, "machines": machines}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding network.tfvars.json: %w", err)
	}
	return append(text, '\n'), nil
}
