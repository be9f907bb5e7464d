package talosgen

import (
	"fmt"
	"net/netip"
	"strings"

	"homeward/netplan"
)

// fixture is a plan as Resolve would give it: three control planes and three
// workers of Talos 1.13 with a pool and an external VIP. Options change it.
func fixture(options ...func(*netplan.Plan)) *netplan.Plan {
	p := &netplan.Plan{
		Name:       "edge",
		Provider:   netplan.Proxmox,
		Talos:      netplan.Talos{Version: "v1.13.9"},
		Kubernetes: netplan.Kubernetes{Version: "v1.36.3", CNI: "flannel", PodCIDR: netip.MustParsePrefix("10.244.0.0/16"), ServiceCIDR: netip.MustParsePrefix("10.96.0.0/12")},
		Cluster: netplan.Cluster{
			Segment: netplan.Segment{Bridge: "vmbr1"}, CIDR: netip.MustParsePrefix("10.0.0.0/24"),
			Gateway: netip.MustParseAddr("10.0.0.1"), MTU: 1500, DNS: []netip.Addr{netip.MustParseAddr("10.0.0.1")},
		},
		External: &netplan.External{
			Segment: netplan.Segment{Bridge: "vmbr0", VLAN: 1691}, CIDR: netip.MustParsePrefix("203.0.113.0/25"),
			Gateway: netip.MustParseAddr("203.0.113.1"), MTU: 1500, AnchorCIDR: netip.MustParsePrefix("169.254.32.0/20"),
			IngressPool: pool("203.0.113.75-203.0.113.78"),
		},
		KubeAPI: netplan.KubeAPI{
			VIP: netip.MustParseAddr("203.0.113.79"), Link: netplan.LinkExternal,
			Endpoint: "https://203.0.113.79:6443", SANs: []string{"203.0.113.79"},
		},
		ReturnPath: &netplan.ReturnPath{
			Mark: netplan.DefaultMark, Mask: netplan.DefaultMask, Table: netplan.DefaultTable, Pod: netplan.PodNFT,
			Priorities: netplan.Priorities{VIP: 1000, Mark: 1001, VIPUnreachable: 1010, MarkUnreachable: 1011},
		},
	}
	addMachines(p, netplan.RoleControlPlane, "controlplane", 3)
	addMachines(p, netplan.RoleWorker, "worker", 3)
	for _, option := range options {
		option(p)
	}
	return p
}

func addMachines(p *netplan.Plan, role netplan.Role, poolName string, count int) {
	for i := range count {
		n := byte(len(p.Machines) + 1)
		p.Machines = append(p.Machines, netplan.Machine{
			Name: fmt.Sprintf("%s-%s-%02d", p.Name, poolName, i+1), Role: role, Pool: poolName,
			External: true, Announces: role == netplan.RoleWorker,
			MACs:   netplan.MACs{Cluster: netplan.MAC{2, 0, 0xAB, 0xCD, byte(i >> 8), n}, External: netplan.MAC{2, 1, 0xAB, 0xCD, byte(i >> 8), n}},
			Anchor: netip.AddrFrom4([4]byte{169, 254, 33, n}),
		})
	}
}

func pool(text string) netplan.AddressSet {
	r, err := netplan.ParseRange(text)
	if err != nil {
		panic(err)
	}
	return netplan.AddressSet{r}
}

// machine gives a machine of the plan by the end of its name.
func machine(p *netplan.Plan, suffix string) netplan.Machine {
	for _, m := range p.Machines {
		if strings.HasSuffix(m.Name, suffix) {
			return m
		}
	}
	panic("no machine " + suffix)
}

// pod is a static pod for a machine, nil where it needs none. The real one is
// rendered elsewhere; the documents carry whatever they are given.
func pod(p *netplan.Plan, m netplan.Machine) map[string]any {
	if !p.MarksConnections(m) {
		return nil
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": netplan.PodName, "namespace": "kube-system", "labels": map[string]any{"app.kubernetes.io/managed-by": "homeward"}},
		"spec": map[string]any{
			"hostNetwork": true,
			"containers": []any{map[string]any{
				"name": "return-path", "image": "registry.example.edu/homeward-agent:v1",
				"args": []any{"--external-mac=" + m.MACs.External.String(), "--destinations=" + p.Destinations(m)[0].String()},
			}},
		},
	}
}
