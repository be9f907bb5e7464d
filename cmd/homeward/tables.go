package main

import (
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"homeward/netplan"
)

// writeTables prints a plan for an operator: what the links are, who has which
// address on the external one, and one line a machine.
func (t *tool) writeTables(view planView) error {
	b := t.page()
	p := view.Plan
	fmt.Fprintf(b, "%s: %s; Talos %s, Kubernetes %s, %s\n", p.Name, census(p), p.Talos.Version, dash(p.Kubernetes.Version), p.Kubernetes.CNI)
	if p.OpenStack != nil {
		cloudTables(b, p)
	} else {
		fmt.Fprintf(b, "API: %s\n\n", p.KubeAPI.Endpoint)
		linksTable(b, p)
		if p.External != nil {
			b.WriteByte('\n')
			addressTable(b, p)
		}
		b.WriteByte('\n')
		machineTable(b, p)
		returnPathLines(b, p)
	}
	firewallLines(b, p)
	if view.against != "" {
		b.WriteByte('\n')
		changeTable(b, view)
	}
	_, err := io.WriteString(t.out, b.String())
	return err
}

// returnPathLines says what sends replies home, as far as the plan needs it.
func returnPathLines(b sheet, p *netplan.Plan) {
	rp := p.ReturnPath
	if rp == nil {
		return
	}
	var rules []string
	if p.KubeAPI.Link == netplan.LinkExternal {
		rules = append(rules, fmt.Sprintf("%d for the VIP (behind it %d, unreachable)", rp.Priorities.VIP, rp.Priorities.VIPUnreachable))
	}
	if rp.Pod != "" {
		rules = append(rules, fmt.Sprintf("%d for mark %s/%s (behind it %d, unreachable)", rp.Priorities.Mark, rp.Mark, rp.Mask, rp.Priorities.MarkUnreachable))
	}
	if len(rules) == 0 {
		return
	}
	fmt.Fprintf(b, "\nReturn path: table %d; rule %s", rp.Table, strings.Join(rules, "; rule "))
	if rp.Pod != "" {
		fmt.Fprintf(b, "; static pod: %s", rp.Pod)
	}
	b.WriteByte('\n')
}

// firewallLines says what the machines' own firewall lets in from outside, and
// that allowlists do nothing without it.
func firewallLines(b sheet, p *netplan.Plan) {
	if !p.Talos.Firewall {
		if len(p.Security) > 0 && p.OpenStack == nil {
			b.WriteString("\nFirewall: off, so Homeward applies nothing of security (talos.firewall: true does)\n")
		}
		return
	}
	b.WriteString("\nFirewall: blocks what comes from outside the private, pod and service networks, but for\n")
	openings(b, p, map[int]string{
		netplan.PortTalosAPI: "anywhere", netplan.PortKubernetesAPI: "anywhere", netplan.PortHTTP: "anywhere", netplan.PortHTTPS: "anywhere",
	})
}

// openings lists who may reach which port: who by default, and what security says.
func openings(b sheet, p *netplan.Plan, who map[int]string) {
	rows := [][]string{{"PORT", "FROM"}}
	for _, a := range p.Security {
		hosts := make([]string, len(a.Hosts))
		for i, h := range a.Hosts {
			hosts[i] = h.String()
		}
		who[a.Port] = strings.Join(hosts, ", ")
	}
	for _, port := range slices.Sorted(maps.Keys(who)) {
		rows = append(rows, []string{fmt.Sprint(port), who[port]})
	}
	table(b, rows)
}

// census counts the machines by pool.
func census(p *netplan.Plan) string {
	var parts []string
	for i := 0; i < len(p.Machines); {
		pool := p.Machines[i].Pool
		n := 0
		for i < len(p.Machines) && p.Machines[i].Pool == pool {
			n, i = n+1, i+1
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, pool))
	}
	return strings.Join(parts, ", ")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func addr(a netip.Addr) string {
	if !a.IsValid() {
		return "-"
	}
	return a.String()
}

func linksTable(b sheet, p *netplan.Plan) {
	rows := [][]string{{"LINK", "SEGMENT", "NETWORK", "GATEWAY", "MTU"}}
	gateway := addr(p.Cluster.Gateway)
	if !p.Cluster.Gateway.IsValid() {
		gateway = "by DHCP"
	}
	rows = append(rows, []string{netplan.AliasPrivate, p.Cluster.Segment.String(), p.Cluster.CIDR.String(), gateway, fmt.Sprint(p.Cluster.MTU)})
	if e := p.External; e != nil {
		gateway := addr(e.Gateway)
		if e.GatewayOnLink {
			gateway += " (on link)"
		}
		rows = append(rows, []string{netplan.AliasExternal, e.Segment.String(), e.CIDR.String(), gateway, fmt.Sprint(e.MTU)})
	}
	table(b, rows)
}

// holder is a range of the external link and whose it is.
type holder struct {
	netplan.Range
	what string
}

func addressTable(b sheet, p *netplan.Plan) {
	rows := [][]string{{"EXTERNAL ADDRESS", "COUNT", "WHOSE"}}
	for _, h := range holders(p) {
		text := h.First.String()
		if h.First != h.Last {
			text += "-" + h.Last.String()
		}
		rows = append(rows, []string{text, fmt.Sprint(h.Count()), h.what})
	}
	table(b, rows)
}

// holders lists everything that is kept on the external link, ascending.
func holders(p *netplan.Plan) []holder {
	e := p.External
	var out []holder
	add := func(set netplan.AddressSet, what string) {
		for _, r := range set {
			out = append(out, holder{r, what})
		}
	}
	one := func(a netip.Addr, what string) {
		if a.IsValid() {
			add(netplan.AddressSet{{First: a, Last: a}}, what)
		}
	}
	one(e.Gateway, "the gateway")
	add(e.IngressPool, "ingress pool: MetalLB gives them to services")
	if p.KubeAPI.Link == netplan.LinkExternal {
		one(p.KubeAPI.VIP, "the Kubernetes API, held by one of the control planes")
	}
	add(e.DHCPRanges, "a DHCP server's, not ours")
	add(e.Reserved, "other hosts', not ours")
	for _, m := range p.Machines {
		one(m.ExternalAddress, m.Name)
	}
	slices.SortStableFunc(out, func(a, b holder) int { return a.First.Compare(b.First) })
	return out
}

func machineTable(b sheet, p *netplan.Plan) {
	head := []string{"MACHINE", "PRIVATE MAC", "PRIVATE ADDRESS", "EXTERNAL MAC", "ANCHOR", "ANNOUNCES"}
	placed := slices.ContainsFunc(p.Machines, func(m netplan.Machine) bool { return m.VMID != 0 || m.Node != "" })
	if placed {
		head = slices.Insert(head, 1, "VM", "NODE")
	}
	rows := [][]string{head}
	for _, m := range p.Machines {
		rows = append(rows, machineRow(m, placed))
	}
	table(b, rows, slices.Index(head, "ANCHOR"), slices.Index(head, "PRIVATE MAC"))
}

func machineRow(m netplan.Machine, placed bool) []string {
	row := []string{m.Name}
	if placed {
		vm := "-"
		if m.VMID != 0 {
			vm = fmt.Sprint(m.VMID)
		}
		row = append(row, vm, dash(m.Node))
	}
	private := "DHCP"
	if m.Address.IsValid() {
		private = m.Address.String()
	}
	external, announces := "-", "no"
	if m.External {
		external = m.MACs.External.String()
	}
	if m.Announces {
		announces = "yes"
	}
	return append(row, m.MACs.Cluster.String(), private, external, addr(m.Anchor), announces)
}

// plain takes control characters out: the old plan is a file that anyone may have
// written.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, s)
}

func changeTable(b sheet, view planView) {
	if len(view.Changes) == 0 {
		fmt.Fprintf(b, "Nothing changes against %s.\n", view.against)
		return
	}
	fmt.Fprintf(b, "Against %s:\n", view.against)
	for _, c := range view.Changes {
		who := "cluster"
		if c.Machine != "" {
			who = c.Machine
		}
		fmt.Fprintf(b, "  %s: %s: %s -> %s\n      %s\n", plain(who), c.Field, plain(dash(c.Old)), dash(c.New), plain(c.Effect))
	}
}
