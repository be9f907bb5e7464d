package main

import (
	"cmp"
	"fmt"
	"net/netip"

	"homeward/netplan"
)

// cloudTables prints a plan on OpenStack: its network, the two reserved ports, one
// line a machine, and what the security group lets in.
func cloudTables(b sheet, p *netplan.Plan) {
	fmt.Fprintf(b, "API: %s\n\n", cmp.Or(p.KubeAPI.Endpoint, unreserved))
	where := "external network " + p.OpenStack.ExternalNet
	if p.OpenStack.Region != "" {
		where += ", region " + p.OpenStack.Region
	}
	table(b, [][]string{
		{"NETWORK", "CIDR", "ROUTER", "OUTSIDE"},
		{p.Name, p.Cluster.CIDR.String(), p.Cluster.Gateway.String(), where},
	})
	b.WriteByte('\n')
	table(b, [][]string{
		{"RESERVED PORT", "FIXED", "FLOATING", "FOR"},
		{p.KubeAPIPort(), reservedAddr(p.KubeAPI.Fixed), reservedAddr(p.KubeAPI.Floating), "the Kubernetes API, held by one of the control planes"},
		{p.IngressPort(), reservedAddr(p.Ingress.Fixed), reservedAddr(p.Ingress.Floating), "the ingress: MetalLB gives it to the controller's Service"},
	})
	b.WriteByte('\n')
	rows := [][]string{{"MACHINE AND PORT", "MAC", "ADDRESS", "ANNOUNCES"}}
	for _, m := range p.Machines {
		address, announces := "Neutron's choice", "no"
		if m.Address.IsValid() {
			address = m.Address.String()
		}
		if m.Announces {
			announces = "yes"
		}
		rows = append(rows, []string{m.Name, m.MACs.Cluster.String(), address, announces})
	}
	table(b, rows)
	b.WriteString("\nSecurity group: blocks what comes from outside the cluster, but for ICMP and\n")
	openings(b, p, map[int]string{
		netplan.PortTalosAPI: "nowhere", netplan.PortKubernetesAPI: "nowhere", netplan.PortHTTP: "anywhere", netplan.PortHTTPS: "anywhere",
	})
}

// unreserved stands for what only a reservation gives.
const unreserved = "not reserved yet"

func reservedAddr(a netip.Addr) string {
	if !a.IsValid() {
		return unreserved
	}
	return a.String()
}
