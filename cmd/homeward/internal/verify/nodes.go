package verify

import (
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"homeward/cmd/homeward/internal/report/kube"
	"homeward/netplan"
)

func nodeChecks() []check {
	return []check{
		{"nodes-planned", "the nodes are the machines of the plan",
			"a machine that is missing announces nothing and holds no VIP; a node that the plan does not know has no return path, and MetalLB may still announce from it",
			nodesPlanned},
		{"node-addresses", "nodes have addresses in the private network",
			"kubelet, etcd and MetalLB's speakers talk by a node's InternalIP; one on the external link is an anchor or a floating address there",
			nodeAddresses},
	}
}

func nodesPlanned(s *Snapshot, n *notes) {
	nodes, ok := need(n, s.Nodes)
	if !ok {
		return
	}
	planned, there := map[string]bool{}, s.nodes()
	var missing []string
	for _, m := range s.Plan.Machines {
		planned[m.Name] = true
		if there[m.Name] == nil {
			missing = append(missing, m.Name)
		}
	}
	var strangers, ailing []string
	for _, node := range nodes {
		switch {
		case !planned[node.Name]:
			strangers = append(strangers, node.Name)
		case !kube.NodeReady(node):
			ailing = append(ailing, node.Name)
		}
	}
	n.saw("%s of %s", plural(len(planned)-len(missing), "node"), plural(len(planned), "planned machine"))
	if len(missing) > 0 {
		n.fail("no node: %s", named(missing))
		n.remedy("start the machine and let it join, or take it out of the plan", "")
	}
	if len(strangers) > 0 {
		slices.Sort(strangers)
		n.warn("not in the plan: %s", named(strangers))
		n.remedy("take the node into the plan, or out of the cluster", "kubectl delete node "+strangers[0])
	}
	if len(ailing) > 0 {
		slices.Sort(ailing)
		n.warn("not Ready: %s", named(ailing))
		n.remedy("see what its kubelet says", "kubectl describe node "+ailing[0])
	}
}

// nodes are the cluster's by name.
func (s *Snapshot) nodes() map[string]*corev1.Node {
	out := make(map[string]*corev1.Node, len(s.Nodes.Value))
	for i := range s.Nodes.Value {
		out[s.Nodes.Value[i].Name] = &s.Nodes.Value[i]
	}
	return out
}

// internalIPs are a node's addresses that others talk to it by; IPv4 only.
func internalIPs(n corev1.Node) []netip.Addr {
	var out []netip.Addr
	for _, a := range n.Status.Addresses {
		if ip, err := netip.ParseAddr(a.Address); err == nil && a.Type == corev1.NodeInternalIP && ip.Is4() {
			out = append(out, ip)
		}
	}
	return out
}

func nodeAddresses(s *Snapshot, n *notes) {
	nodes, ok := need(n, s.Nodes)
	if !ok {
		return
	}
	if len(nodes) == 0 {
		n.unknown("the cluster has no nodes")
		n.remedy("let the plan's machines join", "")
		return
	}
	machines := map[string]netplan.Machine{}
	for _, m := range s.Plan.Machines {
		machines[m.Name] = m
	}
	holders := map[netip.Addr]string{}
	good := 0
	for _, node := range nodes {
		before := len(n.lines)
		list := internalIPs(node)
		if len(list) == 0 {
			n.fail("%s has no IPv4 InternalIP", node.Name)
		}
		for _, a := range list {
			s.nodeAddress(n, machines[node.Name], node.Name, a)
			if other := holders[a]; other != "" {
				n.fail("%s and %s both have %s", other, node.Name, a)
			}
			holders[a] = node.Name
		}
		if m := machines[node.Name]; m.Address.IsValid() && len(list) > 0 && !slices.Contains(list, m.Address) {
			n.fail("%s has %s, and the plan gives it %s", node.Name, addresses(list), m.Address)
		}
		if len(n.lines) == before {
			good++
		} else if machines[node.Name].Name != "" {
			s.apply(n, node.Name)
		}
	}
	n.saw("%s in %s", plural(good, "node"), s.Plan.Cluster.CIDR)
}

// nodeAddress says what is wrong with one address of a node.
func (s *Snapshot) nodeAddress(n *notes, m netplan.Machine, name string, a netip.Addr) {
	switch p := s.Plan; {
	case a == p.KubeAPI.VIP:
		n.fail("%s has %s, which is the API's VIP", name, a)
	case p.ServicePool().Contains(a):
		n.fail("%s has %s, which is for services", name, a)
	case p.Cluster.CIDR.Contains(a):
	case a == m.Anchor:
		n.fail("%s has %s, which is its anchor on the external link, outside %s", name, a, p.Cluster.CIDR)
	case p.External != nil && p.External.CIDR.Contains(a):
		n.fail("%s has %s, which is of the external network, outside %s", name, a, p.Cluster.CIDR)
	default:
		n.fail("%s has %s, outside the private network %s", name, a, p.Cluster.CIDR)
	}
}

// addresses lists addresses in one line.
func addresses(list []netip.Addr) string {
	var out []string
	for _, a := range list {
		out = append(out, a.String())
	}
	return strings.Join(out, ", ")
}
