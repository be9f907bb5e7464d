package netplan_test

import (
	"net/netip"
	"strings"
	"testing"

	"homeward/netplan"
)

// marked gives the plan a CNI and one bit to mark with.
func marked(cni string, bit uint32) func(*netplan.Spec) {
	return func(s *netplan.Spec) {
		s.Kubernetes.CNI = cni
		s.ReturnPath.Mark, s.ReturnPath.Mask = ptr(netplan.Mark(bit)), ptr(netplan.Mask(bit))
	}
}

// TestNumbersThatNeighboursLeave are taken as they are.
func TestNumbersThatNeighboursLeave(t *testing.T) {
	for name, edit := range map[string]func(*netplan.Spec){
		"the default beside flannel":            marked("flannel", 0x2000),
		"the default beside Calico":             marked("calico", 0x2000),
		"the default beside an unknown CNI":     marked("none", 0x2000),
		"the other bit":                         marked("calico", 0x1000),
		"a bit that NetBird leaves, flannel":    marked("flannel", 0x1000000),
		"right before Tailscale's rules":        func(s *netplan.Spec) { s.ReturnPath.Priority = ptr(5188) },
		"right behind Cilium's":                 func(s *netplan.Spec) { s.ReturnPath.Priority = ptr(114) },
		"where Cilium's are, without it":        func(s *netplan.Spec) { s.ReturnPath.Priority = ptr(101) },
		"a table of Calico's range, without it": func(s *netplan.Spec) { s.ReturnPath.Table = ptr(202) },
		"the table behind ours, beside Calico":  func(s *netplan.Spec) { s.Kubernetes.CNI, s.ReturnPath.Table = "calico", ptr(252) },
	} {
		t.Run(name, func(t *testing.T) {
			s := seed(t)
			edit(&s)
			if p := resolve(t, s); len(p.Warnings) > 0 {
				t.Errorf("warnings %v", p.Warnings)
			}
		})
	}
}

// Every row of the table of refusals, and what else must not pass: exactly one
// fault each, at the field that should change, with the value that would be
// right.
func TestResolveRefuses(t *testing.T) {
	const ext, cluster = "proxmox.network.external", "proxmox.network.cluster"
	type S = netplan.Spec
	worker1 := func(m netplan.MachineSpec) func(*S) {
		m.Name = "edge-worker-01"
		return func(s *S) { s.Machines = append(s.Machines, m) }
	}
	for _, c := range []struct {
		name  string
		edit  func(*S)
		path  string
		other string
		text  string
	}{
		{"host bits", func(s *S) { s.Cluster.CIDR = prefix("10.0.0.9/24") }, "network.cidr", "", "10.0.0.0/24"},
		{"host bits outside", func(s *S) { s.External.CIDR = prefix("203.0.113.5/25") }, ext + ".cidr", "", "203.0.113.0/25"},
		{"prefix too short", func(s *S) { s.Cluster.CIDR = prefix("10.0.0.0/7").Masked() }, "network.cidr", "", "8 to 32"},
		{"loopback", func(s *S) { s.Cluster.CIDR = prefix("127.0.0.0/24") }, "network.cidr", "", "127.0.0.0/8"},
		{"no cidr", func(s *S) { s.Cluster.CIDR = netip.Prefix{} }, "network.cidr", "", "missing"},
		{"gateway outside", func(s *S) { s.External.Gateway = addr("203.0.114.1") }, ext + ".gateway", ext + ".cidr", "gateway_onlink"},
		{"gateway is the network", func(s *S) { s.External.Gateway = addr("203.0.113.0") }, ext + ".gateway", ext + ".cidr", "network address"},
		{"gateway is the broadcast", func(s *S) { s.External.Gateway = addr("203.0.113.127") }, ext + ".gateway", ext + ".cidr", "broadcast address"},
		{"gateway is a netmask", func(s *S) { s.External.Gateway = addr("255.255.255.128") }, ext + ".gateway", "", "netmask"},
		{"no gateway", func(s *S) { s.External.Gateway = netip.Addr{} }, ext + ".gateway", "", "203.0.113.1"},
		{"on-link gateway on the private link", func(s *S) {
			s.External.GatewayOnLink, s.External.Gateway = true, addr("10.0.0.1")
		}, ext + ".gateway", "network.cidr", "private link"},
		{"private gateway outside", func(s *S) { s.Cluster.Gateway = addr("10.0.1.1") }, cluster + ".gateway", "network.cidr", "10.0.0.1-10.0.0.254"},
		{"pool outside", func(s *S) { s.External.Pool = ranges(t, "203.0.113.200-203.0.113.210") }, ext + ".ingress_pool", ext + ".cidr", "give addresses in 203.0.113.2-203.0.113.78"},
		{"pool over the edge", func(s *S) { s.External.Pool = ranges(t, "203.0.113.120-203.0.113.130") }, ext + ".ingress_pool", ext + ".cidr", "outside"},
		{"pool holds the broadcast", func(s *S) { s.External.Pool = ranges(t, "203.0.113.120-203.0.113.127") }, ext + ".ingress_pool", ext + ".cidr", "broadcast address of 203.0.113.0/25: give 203.0.113.120-203.0.113.126"},
		{"pool holds the network", func(s *S) {
			s.External.Gateway = addr("203.0.113.9")
			s.External.Pool = ranges(t, "203.0.113.0-203.0.113.3")
		}, ext + ".ingress_pool", ext + ".cidr", "give 203.0.113.1-203.0.113.3"},
		{"pool holds the gateway", func(s *S) { s.External.Gateway = addr("203.0.113.76") }, ext + ".ingress_pool", ext + ".gateway", "give [203.0.113.75, 203.0.113.77-203.0.113.78]"},
		{"pool is the whole link", func(s *S) {
			s.External.KubeAPIVIP = netip.Addr{}
			s.KubeAPIEndpoint = "api.example.edu"
			s.External.Pool = ranges(t, "203.0.113.0/25")
		}, ext + ".ingress_pool", ext + ".gateway", "give 203.0.113.2-203.0.113.126"},
		{"pool holds a reserved one", func(s *S) { s.External.Reserved = ranges(t, "203.0.113.78") }, ext + ".ingress_pool", ext + ".reserved", "give 203.0.113.75-203.0.113.77"},
		{"pool overlaps DHCP", func(s *S) { s.External.DHCP = ranges(t, "203.0.113.70-203.0.113.76") }, ext + ".ingress_pool", ext + ".dhcp_ranges", "give 203.0.113.77-203.0.113.78"},
		{"pool holds a node", worker1(netplan.MachineSpec{ExternalAddress: addr("203.0.113.77")}), ext + ".ingress_pool", "machines.edge-worker-01.external_address", "edge-worker-01"},
		{"pool overlaps itself", func(s *S) { s.External.Pool = ranges(t, "203.0.113.75-203.0.113.78", "203.0.113.76/31") }, ext + ".ingress_pool", "", "overlap"},
		{"DHCP outside", func(s *S) { s.External.DHCP = ranges(t, "203.0.114.1-203.0.114.9") }, ext + ".dhcp_ranges", ext + ".cidr", "outside"},
		{"VIP outside", func(s *S) { s.External.KubeAPIVIP = addr("203.0.113.200") }, ext + ".kubeapi_vip", ext + ".cidr", "like 203.0.113.79"},
		{"VIP is the gateway", func(s *S) { s.External.KubeAPIVIP = addr("203.0.113.1") }, ext + ".kubeapi_vip", ext + ".gateway", "also the gateway"},
		{"VIP is the broadcast", func(s *S) { s.External.KubeAPIVIP = addr("203.0.113.127") }, ext + ".kubeapi_vip", ext + ".cidr", "broadcast"},
		{"VIP in the pool", func(s *S) { s.External.KubeAPIVIP = addr("203.0.113.77") }, ext + ".kubeapi_vip", ext + ".ingress_pool", "like 203.0.113.79"},
		{"VIP in DHCP", func(s *S) { s.External.DHCP = ranges(t, "203.0.113.79-203.0.113.90") }, ext + ".kubeapi_vip", ext + ".dhcp_ranges", "like 203.0.113.91"},
		{"VIP on both links", func(s *S) { s.Cluster.KubeAPIVIP = addr("10.0.0.240") }, ext + ".kubeapi_vip", cluster + ".kubeapi_vip", "both links"},
		{"no VIP", func(s *S) { s.External.KubeAPIVIP = netip.Addr{} }, ext + ".kubeapi_vip", "", "kubeapi_endpoint"},
		{"private VIP outside", func(s *S) { s.External.KubeAPIVIP = netip.Addr{}; s.Cluster.KubeAPIVIP = addr("10.1.0.1") }, cluster + ".kubeapi_vip", "network.cidr", "outside"},
		{"private VIP is a node", func(s *S) {
			s.External.KubeAPIVIP, s.Cluster.KubeAPIVIP, s.Cluster.Gateway = netip.Addr{}, addr("10.0.0.61"), addr("10.0.0.1")
			worker1(netplan.MachineSpec{Address: addr("10.0.0.61")})(s)
		}, "machines.edge-worker-01.address", cluster + ".kubeapi_vip", "also kubeapi_vip"},
		{"an outside VIP without NICs", func(s *S) { s.ControlPlaneNoExternal = true }, ext + ".kubeapi_vip", "controlplane.external", cluster + ".kubeapi_vip"},
		{"one segment twice", func(s *S) { s.Cluster.Bridge, s.Cluster.VLAN = "vmbr0", ptr(1691) }, ext + ".vlan", cluster + ".vlan", "vmbr0, VLAN 1691"},
		{"one segment twice, untagged", func(s *S) { s.Cluster.Bridge, s.External.VLAN = "vmbr0", nil }, ext, cluster, "untagged"},
		{"one VNet twice", func(s *S) {
			s.Cluster.Bridge, s.Cluster.VNet, s.External.Bridge, s.External.VNet, s.External.VLAN = "", "lan", "", "lan", nil
		}, ext, cluster, "VNet lan"},
		{"bridge and VNet", func(s *S) { s.External.VNet = "lan" }, ext + ".vnet", ext + ".bridge", "one of the two"},
		{"no bridge", func(s *S) { s.Cluster.Bridge = "" }, cluster + ".bridge", "", "vmbr1"},
		{"a hostile bridge", func(s *S) { s.Cluster.Bridge = "vmbr1;\x1b[31m rm" }, cluster + ".bridge", "", `\x1b`},
		{"networks overlap", func(s *S) { s.Kubernetes.PodCIDR = prefix("10.0.0.0/16") }, "kubernetes.pod_cidr", "network.cidr", "like 10.244.0.0/16"},
		{"a default network overlaps", func(s *S) { s.Cluster.CIDR = prefix("10.100.0.0/24") }, "network.cidr", "kubernetes.service_cidr", "10.96.0.0/12"},
		{"links overlap", func(s *S) { s.Cluster.CIDR = prefix("203.0.113.0/24") }, "network.cidr", ext + ".cidr", "overlaps"},
		{"service network too large", func(s *S) { s.Kubernetes.ServiceCIDR = prefix("172.16.0.0/11").Masked() }, "kubernetes.service_cidr", "", "/12"},
		{"anchors not link-local", func(s *S) { s.External.AnchorCIDR = prefix("10.9.0.0/20") }, ext + ".anchor_cidr", "", "169.254.32.0/20"},
		{"anchors too small", func(s *S) { s.External.AnchorCIDR = prefix("169.254.32.0/31") }, ext + ".anchor_cidr", "", "/30"},
		{"anchors too few", func(s *S) { s.External.AnchorCIDR = prefix("169.254.32.0/30") }, ext + ".anchor_cidr", "", "2 usable addresses and 6 are needed: give a /29"},
		{"anchors all reserved", func(s *S) { s.External.AnchorCIDR = prefix("169.254.0.0/24") }, ext + ".anchor_cidr", "", "0 usable addresses and 6 are needed: give a /23"},
		{"VLAN 4095", func(s *S) { s.External.VLAN = ptr(4095) }, ext + ".vlan", "", "1 to 4094"},
		{"VLAN 0", func(s *S) { s.External.VLAN = ptr(0) }, ext + ".vlan", "", "untagged"},
		{"MTU too small", func(s *S) { s.External.MTU = ptr(576) }, ext + ".mtu", "", "1280 to 9216"},
		{"pinned outside the pool", func(s *S) { s.Ingress.Address = addr("203.0.113.80") }, "ingress.address", ext + ".ingress_pool", "like 203.0.113.75"},
		{"pinned without a pool", func(s *S) { s.External.Pool = nil; s.Ingress.Address = addr("203.0.113.80") }, "ingress.address", "", "without a pool"},
		{"two machines, one MAC", func(s *S) {
			mac, _ := netplan.ParseMAC("bc:24:11:00:00:01")
			s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", ClusterMAC: mac}, {Name: "edge-worker-02", ExternalMAC: mac}}
		}, "machines.edge-worker-02.macs.external", "machines.edge-worker-01.macs.cluster", "bc:24:11:00:00:01"},
		{"one machine, one MAC twice", func(s *S) {
			mac, _ := netplan.ParseMAC("bc:24:11:00:00:01")
			worker1(netplan.MachineSpec{ClusterMAC: mac, ExternalMAC: mac})(s)
		}, "machines.edge-worker-01.macs.external", "machines.edge-worker-01.macs.cluster", "bc:24:11:00:00:01"},
		{"multicast MAC", worker1(netplan.MachineSpec{ClusterMAC: netplan.MAC{0x01, 0, 0x5e, 0, 0, 1}}), "machines.edge-worker-01.macs.cluster", "", "like 00:00:5e:00:00:01"},
		{"two machines, one anchor", func(s *S) {
			s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", Anchor: addr("169.254.33.9")}, {Name: "edge-worker-02", Anchor: addr("169.254.33.9")}}
		}, "machines.edge-worker-02.anchor", "machines.edge-worker-01.anchor", "169.254.33.9"},
		{"two machines, one VMID", func(s *S) {
			s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", VMID: ptr(201)}, {Name: "edge-worker-02", VMID: ptr(201)}}
		}, "machines.edge-worker-02.vmid", "machines.edge-worker-01.vmid", "VMID 201"},
		{"two machines, one address", func(s *S) {
			s.Cluster.Gateway = addr("10.0.0.1")
			s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", Address: addr("10.0.0.61")}, {Name: "edge-worker-02", Address: addr("10.0.0.61")}}
		}, "machines.edge-worker-02.address", "machines.edge-worker-01.address", "10.0.0.61"},
		{"an anchor elsewhere", worker1(netplan.MachineSpec{Anchor: addr("169.254.1.1")}), "machines.edge-worker-01.anchor", ext + ".anchor_cidr", "169.254.32.1-169.254.47.254"},
		{"an anchor at the gateway", func(s *S) {
			s.External.Gateway, s.External.GatewayOnLink = addr("169.254.36.6"), true
			worker1(netplan.MachineSpec{Anchor: addr("169.254.36.6")})(s)
		}, "machines.edge-worker-01.anchor", "", "the external gateway's"},
		{"a resolver's address", func(s *S) {
			s.Cluster.Gateway, s.DNS = addr("10.0.0.254"), []netip.Addr{addr("10.0.0.61")}
			worker1(netplan.MachineSpec{Address: addr("10.0.0.61")})(s)
		}, "machines.edge-worker-01.address", "network.dns", "also a resolver"},
		{"DHCP hands out the gateway", func(s *S) { s.External.DHCP = ranges(t, "203.0.113.1-203.0.113.9") }, ext + ".dhcp_ranges", ext + ".gateway", "give 203.0.113.2-203.0.113.9"},
		{"gateway on the private link", func(s *S) { s.External.Gateway = addr("10.0.0.1") }, ext + ".gateway", ext + ".cidr", "give an address in 203.0.113.1-203.0.113.126"},
		{"the metadata address", func(s *S) {
			s.External.AnchorCIDR = prefix("169.254.160.0/20")
			worker1(netplan.MachineSpec{Anchor: addr("169.254.169.254")})(s)
		}, "machines.edge-worker-01.anchor", "", "metadata"},
		{"static without a gateway", worker1(netplan.MachineSpec{Address: addr("10.0.0.61")}), "machines.edge-worker-01.address", cluster + ".gateway", "default route"},
		{"static without resolvers", func(s *S) {
			s.DNS, s.Cluster.Gateway = nil, addr("10.0.0.1")
			worker1(netplan.MachineSpec{Address: addr("10.0.0.61")})(s)
		}, "machines.edge-worker-01.address", "network.dns", "resolvers"},
		{"a real address that is the VIP", worker1(netplan.MachineSpec{ExternalAddress: addr("203.0.113.79")}), "machines.edge-worker-01.external_address", ext + ".kubeapi_vip", "also kubeapi_vip"},
		{"no such machine", func(s *S) { s.Machines = []netplan.MachineSpec{{Name: "edge-worker-09"}} }, "machines.edge-worker-09", "", "edge-worker-01 to edge-worker-03"},
		{"an anchor without a NIC", func(s *S) {
			s.Workers[0].NoExternal = true
			worker1(netplan.MachineSpec{Anchor: addr("169.254.33.9")})(s)
		}, "machines.edge-worker-01.anchor", "", "no external NIC"},
		{"VMID too small", worker1(netplan.MachineSpec{VMID: ptr(99)}), "machines.edge-worker-01.vmid", "", "100"},
		{"a hostile node", worker1(netplan.MachineSpec{Node: "pve1/../x"}), "machines.edge-worker-01.node", "", "pve1"},
		{"no name", func(s *S) { s.Name = "" }, "name", "", "missing"},
		{"upper case", func(s *S) { s.Name = "Edge" }, "name", "", "give edge"},
		{"name with a dot", func(s *S) { s.Name = "edge.one" }, "name", "", "RFC 1123"},
		{"hostname too long", func(s *S) { s.Name = strings.Repeat("e", 48) }, "name", "", "64 characters"},
		{"a name of one whole label", func(s *S) { s.Name = strings.Repeat("e", 63) }, "name", "", "at most 47"},
		{"pool name too long", func(s *S) { s.Workers[0].Name = strings.Repeat("w", 56) }, "workers." + strings.Repeat("w", 56), "", "64 characters"},
		{"a pool called controlplane", func(s *S) { s.Workers[0].Name = "controlplane" }, "workers.controlplane", "", "control planes"},
		{"no count", func(s *S) { s.ControlPlanes = nil }, "controlplane.count", "", "missing"},
		{"no control plane", func(s *S) { s.ControlPlanes = ptr(0) }, "controlplane.count", "", "1 or more"},
		{"a negative count", func(s *S) { s.Workers[0].Count = ptr(-1) }, "workers.worker.count", "", "-1"},
		{"too many machines", func(s *S) { s.Workers[0].Count = ptr(10_000) }, "workers.worker.count", "", "10003 machines"},
		{"Talos 1.13.0", func(s *S) { s.Talos.Version = "v1.13.0" }, "talos.version", "", "1.13.1"},
		{"a pre-release of 1.13.1", func(s *S) { s.Talos.Version = "v1.13.1-beta.0" }, "talos.version", "", "1.13.1"},
		{"no Talos version", func(s *S) { s.Talos.Version = "" }, "talos.version", "", "missing"},
		{"a short Talos version", func(s *S) { s.Talos.Version = "v1.13" }, "talos.version", "", "v1.13.9"},
		{"no Kubernetes version", func(s *S) { s.Kubernetes.Version = "" }, "kubernetes.version", "", "agent.image"},
		{"an unknown CNI", func(s *S) { s.Kubernetes.CNI = "antrea" }, "kubernetes.cni", "", "none for any other"},
		{"Cilium without kube-proxy", func(s *S) { s.Kubernetes.CNI, s.Kubernetes.KubeProxyReplacement = "cilium", true }, "kubernetes.kube_proxy_replacement", "", "return_path.force"},
		{"Calico without kube-proxy", func(s *S) { s.Kubernetes.CNI, s.Kubernetes.KubeProxyReplacement = "calico", true }, "kubernetes.kube_proxy_replacement", "", "return_path.force"},
		{"another without kube-proxy", func(s *S) { s.Kubernetes.CNI, s.Kubernetes.KubeProxyReplacement = "none", true }, "kubernetes.kube_proxy_replacement", "", "return_path.force"},
		{"flannel without kube-proxy", func(s *S) { s.Kubernetes.KubeProxyReplacement = true }, "kubernetes.kube_proxy_replacement", "kubernetes.cni", "flannel does not"},
		{"mark zero", func(s *S) { s.ReturnPath.Mark = ptr(netplan.Mark(0)) }, "return_path.mark", "", "zero"},
		{"mask zero", func(s *S) { s.ReturnPath.Mask = ptr(netplan.Mask(0)) }, "return_path.mask", "", "zero"},
		{"mark outside mask", func(s *S) { s.ReturnPath.Mark = ptr(netplan.Mark(0x1000)) }, "return_path.mask", "return_path.mark", "like 0x1000"},
		{"a neighbour's bit outside mask", func(s *S) { s.ReturnPath.Mark = ptr(netplan.Mark(0x4000)) }, "return_path.mask", "return_path.mark", "like 0x2000"},
		{"two bits outside mask", func(s *S) { s.ReturnPath.Mark = ptr(netplan.Mark(0x3000)) }, "return_path.mask", "return_path.mark", "like 0x2000"},
		{"two bits", func(s *S) {
			s.ReturnPath.Mark, s.ReturnPath.Mask = ptr(netplan.Mark(0x3000)), ptr(netplan.Mask(0x3000))
		}, "return_path.mask", "", "2 bits"},
		{"kube-proxy's mark", func(s *S) {
			s.ReturnPath.Mark, s.ReturnPath.Mask = ptr(netplan.Mark(0x4000)), ptr(netplan.Mask(0x4000))
		}, "return_path.mark", "", "kube-proxy"},
		{"Calico's mark", marked("calico", 1<<31), "return_path.mark", "", "used by Calico (0xffff0000): give mark and mask both 0x2000, or both 0x1000"},
		{"Cilium's mark", marked("cilium", 0x1000), "return_path.mark", "", "used by Cilium (0xffff1fff): give mark and mask both 0x2000"},
		{"a mark that some CNI has", marked("none", 1<<31), "return_path.mark", "", "Cilium"},
		{"Tailscale's mark", marked("flannel", 0x40000), "return_path.mark", "", "Tailscale"},
		{"table 253", func(s *S) { s.ReturnPath.Table = ptr(253) }, "return_path.table", "", "1 to 252"},
		{"KubeSpan's table", func(s *S) { s.ReturnPath.Table = ptr(180) }, "return_path.table", "", "KubeSpan"},
		{"Calico's table", func(s *S) { s.Kubernetes.CNI, s.ReturnPath.Table = "calico", ptr(100) }, "return_path.table", "", "Calico"},
		{"Cilium's table", func(s *S) { s.Kubernetes.CNI, s.ReturnPath.Table = "cilium", ptr(202) }, "return_path.table", "", "Cilium"},
		{"a rule at Tailscale's first", func(s *S) { s.ReturnPath.Priority = ptr(5189) }, "return_path.priority", "", "puts our rules (5188 to 5200) among those of Tailscale (5200 to 5299)"},
		{"a rule at Tailscale's last", func(s *S) { s.ReturnPath.Priority = ptr(5300) }, "return_path.priority", "", "Tailscale"},
		{"a rule at Cilium's last", func(s *S) { s.Kubernetes.CNI, s.ReturnPath.Priority = "cilium", ptr(113) }, "return_path.priority", "", "Cilium (0 to 112)"},
		{"priority 100", func(s *S) { s.ReturnPath.Priority = ptr(100) }, "return_path.priority", "", "101 to 32000"},
		{"no provider", func(s *S) { s.Proxmox = nil }, "proxmox", "", "missing"},
		{"credentials in the URL", func(s *S) { s.Proxmox.URL = "https://root:hunter2@pve:8006" }, "proxmox.url", "", "carries credentials"},
		{"a scheme that is a secret", func(s *S) { s.Proxmox.URL = "hunter2://pve" }, "proxmox.url", "", "not https"},
		{"credentials in the image", func(s *S) { s.Agent.Image = "u:hunter2@registry.example.edu/x" }, "agent.image", "", "credentials"},
		{"credentials before a digest", func(s *S) { s.Agent.Image = "u:hunter2@x@sha256:" + strings.Repeat("0", 64) }, "agent.image", "", "credentials"},
		{"credentials in a SAN", func(s *S) { s.KubeAPISANs = []string{"u:hunter2@x"} }, "kubeapi_sans", "", "credentials"},
		{"a bad class", func(s *S) { s.Ingress.Class = "Traefik" }, "ingress.class", "", "like traefik"},
		{"a bad class of Argo CD's", func(s *S) { s.ArgoCD.IngressClass = "Traefik" }, "argocd.ingress.class", "", "like traefik"},
		{"no address left for the VIP", func(s *S) {
			s.External.Reserved = ranges(t, "203.0.113.2-203.0.113.74", "203.0.113.80-203.0.113.126")
			s.External.KubeAPIVIP = addr("203.0.113.78")
			s.External.Pool = ranges(t, "203.0.113.75-203.0.113.79")
		}, ext + ".kubeapi_vip", ext + ".ingress_pool", "no other address is free: shrink proxmox.network.external.ingress_pool to [203.0.113.75-203.0.113.77, 203.0.113.79]"},
		{"http", func(s *S) { s.Proxmox.URL = "http://pve:8006" }, "proxmox.url", "", "not https"},
		{"a short fingerprint", func(s *S) { s.Proxmox.Fingerprint = "AB:CD" }, "proxmox.fingerprint", "", "32 hexadecimal"},
		{"an unknown allowlist", func(s *S) {
			s.Security = []netplan.AllowSpec{{Name: "metrics", Hosts: map[string][]netip.Prefix{"a": {prefix("10.9.0.0/24")}}}}
		}, "security.metrics", "", "needs a port"},
		{"an allowlist with a control character", func(s *S) {
			s.Security = []netplan.AllowSpec{{Name: "a\x1b[2J", Port: ptr(9100), Hosts: map[string][]netip.Prefix{"a": {prefix("10.9.0.0/24")}}}}
		}, "security.a\x1b[2J", "", "without control characters"},
		{"a host with a control character", func(s *S) {
			s.Security = []netplan.AllowSpec{{Name: "talos", Hosts: map[string][]netip.Prefix{"a\u202eb": {prefix("10.9.0.0/24")}}}}
		}, "security.talos.a\u202eb", "", "without control characters"},
		{"a host with a long name", func(s *S) {
			s.Security = []netplan.AllowSpec{{Name: "talos", Hosts: map[string][]netip.Prefix{strings.Repeat("x", 64): {prefix("10.9.0.0/24")}}}}
		}, "security.talos." + strings.Repeat("x", 64), "", "1 to 63 characters"},
		{"an allowlist for nobody", func(s *S) { s.Security = []netplan.AllowSpec{{Name: "talos"}} }, "security.talos", "", "allows nobody"},
		{"an allowlist with host bits", func(s *S) {
			s.Security = []netplan.AllowSpec{{Name: "talos", Hosts: map[string][]netip.Prefix{"a": {prefix("10.9.0.7/24")}}}}
		}, "security.talos.a", "", "10.9.0.0/24"},
		{"a port twice", func(s *S) {
			h := map[string][]netip.Prefix{"a": {prefix("10.9.0.0/24")}}
			s.Security = []netplan.AllowSpec{{Name: "talos", Hosts: h}, {Name: "apid", Port: ptr(50000), Hosts: h}}
		}, "security.apid.port", "security.talos", "50000"},
		{"an endpoint with a path", func(s *S) { s.KubeAPIEndpoint = "https://api.example.edu/k8s" }, "kubeapi_endpoint", "", "host:port"},
		{"a bad SAN", func(s *S) { s.KubeAPISANs = []string{"not a name"} }, "kubeapi_sans", "", "DNS name"},
		{"an endpoint in the pool", func(s *S) { s.KubeAPIEndpoint = "203.0.113.76" }, "kubeapi_endpoint", ext + ".ingress_pool", "MetalLB"},
		{"an endpoint at the gateway", func(s *S) { s.KubeAPIEndpoint = "203.0.113.1:6443" }, "kubeapi_endpoint", ext + ".gateway", "external gateway"},
		{"an endpoint at a worker", func(s *S) {
			s.KubeAPIEndpoint, s.Cluster.Gateway = "10.0.0.61", addr("10.0.0.1")
			worker1(netplan.MachineSpec{Address: addr("10.0.0.61")})(s)
		}, "kubeapi_endpoint", "machines.edge-worker-01", "no control plane"},
		{"Talos's alias as interface", func(s *S) { s.Ingress.Interface = "external" }, "ingress.interface", "", "alias"},
		{"a short digest", func(s *S) { s.Agent.Image = "registry.example.edu/a@sha256:abc" }, "agent.image", "", "64 hexadecimal"},
		{"no such pool", func(s *S) { s.Machines = []netplan.MachineSpec{{Name: "edge-wroker-01"}} }, "machines.edge-wroker-01", "", "edge-controlplane-01 to edge-controlplane-03, edge-worker-01 to edge-worker-03"},
		{"an unknown pin", func(s *S) { s.Ingress.Pin = "label" }, "ingress.pin", "", "loadBalancerIP or annotation"},
		{"an unknown policy", func(s *S) { s.Ingress.ExternalTrafficPolicy = "local" }, "ingress.external_traffic_policy", "", "Cluster or Local"},
		{"a hostile interface", func(s *S) { s.Ingress.Interface = "ens19\nfoo: bar" }, "ingress.interface", "", "ens19"},
		{"a hostile image", func(s *S) { s.Agent.Image = "x y" }, "agent.image", "", "sha256"},
		{"metrics of the nft pod", func(s *S) { s.Agent.Metrics = "private" }, "agent.metrics", "", "agent.image"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := seed(t)
			c.edit(&s)
			p, faults := netplan.Resolve(s)
			if p != nil {
				t.Fatal("a faulty plan was resolved")
			}
			if len(faults) != 1 {
				t.Fatalf("%d faults, want 1: %v", len(faults), faults)
			}
			f := faults[0]
			if f.Path != c.path || f.Other != c.other || !strings.Contains(f.Message, c.text) {
				t.Errorf("fault %q (other %q), want at %s (other %q) with %q", f.Error(), f.Other, c.path, c.other, c.text)
			}
			if strings.Contains(f.Error(), "hunter2") {
				t.Error("a secret is in the fault")
			}
		})
	}
}
