package load

import (
	"net/netip"

	"homeward/netplan"
)

// get gives a key's value, zero when it is not given or could not be read.
func get[T any](d *document, path string) T {
	var zero T
	if v := d.values[path]; v != nil {
		if t, ok := v.parsed.(T); ok {
			return t
		}
	}
	return zero
}

// optional gives a key's value, nil when it is not given or could not be read.
func optional[T any](d *document, path string) *T {
	if v := d.values[path]; v != nil {
		if t, ok := v.parsed.(T); ok {
			return &t
		}
	}
	return nil
}

// has says whether a key or section stands in the file.
func (d *document) has(path string) bool { return d.values[path] != nil }

// unread says that a value stands in the file but could not be read.
func (d *document) unread(path string) bool { return d.has(path) && d.values[path].parsed == nil }

// names gives the operator's names in a section, in file order.
func (d *document) names(path string) []string {
	if v := d.values[path]; v != nil {
		return v.names
	}
	return nil
}

// spec puts the flat values where netplan wants them.
func (d *document) spec() netplan.Spec {
	s := netplan.Spec{
		Name:  get[string](d, "name"),
		Talos: netplan.TalosSpec{Version: get[string](d, "talos.version"), Firewall: get[bool](d, "talos.firewall")},
		Kubernetes: netplan.KubernetesSpec{
			Version:              get[string](d, "kubernetes.version"),
			PodCIDR:              get[netip.Prefix](d, "kubernetes.pod_cidr"),
			ServiceCIDR:          get[netip.Prefix](d, "kubernetes.service_cidr"),
			CNI:                  get[string](d, "kubernetes.cni"),
			KubeProxyReplacement: get[bool](d, "kubernetes.kube_proxy_replacement"),
		},
		ControlPlanes:          optional[int](d, "controlplane.count"),
		ControlPlaneNoExternal: d.refusesExternal("controlplane"),
		ControlPlaneExternal:   get[bool](d, "controlplane.external"),
		Workers:                d.workers(),
		Machines:               d.machines(),
		DNS:                    get[[]netip.Addr](d, "network.dns"),
		Proxmox:                d.proxmox(),
		OpenStack:              d.openStack(),
		Cluster:                d.link("proxmox.network.cluster", "network.cidr"),
		External:               d.external(),
		Security:               d.security(),
		Ingress: netplan.IngressSpec{
			Class:                 get[string](d, "ingress.class"),
			Address:               get[netip.Addr](d, "ingress.address"),
			Pin:                   get[string](d, "ingress.pin"),
			ExternalTrafficPolicy: get[string](d, "ingress.external_traffic_policy"),
			Interface:             get[string](d, "ingress.interface"),
		},
		ArgoCD: netplan.ArgoCDSpec{
			MetalLBEnabled: optional[bool](d, "argocd.metallb.enabled"),
			IngressEnabled: optional[bool](d, "argocd.ingress.enabled"),
			IngressClass:   get[string](d, "argocd.ingress.class"),
		},
		Agent:           netplan.AgentSpec{Image: get[string](d, "agent.image"), Metrics: get[string](d, "agent.metrics")},
		KubeAPIEndpoint: get[string](d, "kubeapi_endpoint"),
		KubeAPISANs:     get[[]string](d, "kubeapi_sans"),
		ReturnPath: netplan.ReturnPathSpec{
			Mark:     optional[netplan.Mark](d, "return_path.mark"),
			Mask:     optional[netplan.Mask](d, "return_path.mask"),
			Table:    optional[int](d, "return_path.table"),
			Priority: optional[int](d, "return_path.priority"),
			Force:    get[bool](d, "return_path.force"),
		},
	}
	return s
}

// refusesExternal says that a pool was given external: false.
func (d *document) refusesExternal(path string) bool {
	external := optional[bool](d, path+".external")
	return external != nil && !*external
}

func (d *document) workers() []netplan.PoolSpec {
	var pools []netplan.PoolSpec
	for _, name := range d.names("workers") {
		path := "workers." + name
		pools = append(pools, netplan.PoolSpec{Name: name, Count: optional[int](d, path+".count"), NoExternal: d.refusesExternal(path), External: get[bool](d, path+".external")})
	}
	return pools
}

func (d *document) machines() []netplan.MachineSpec {
	var machines []netplan.MachineSpec
	for _, name := range d.names("machines") {
		path := "machines." + name
		machines = append(machines, netplan.MachineSpec{
			Name:            name,
			VMID:            optional[int](d, path+".vmid"),
			Node:            get[string](d, path+".node"),
			ClusterMAC:      get[netplan.MAC](d, path+".macs.cluster"),
			ExternalMAC:     get[netplan.MAC](d, path+".macs.external"),
			Address:         get[netip.Addr](d, path+".address"),
			ExternalAddress: get[netip.Addr](d, path+".external_address"),
			Anchor:          get[netip.Addr](d, path+".anchor"),
		})
	}
	return machines
}

func (d *document) proxmox() *netplan.ProxmoxSpec {
	if !d.has("proxmox") {
		return nil
	}
	return &netplan.ProxmoxSpec{
		URL:         get[string](d, "proxmox.url"),
		TLSVerify:   get[string](d, "proxmox.tls_verify"),
		Fingerprint: get[string](d, "proxmox.fingerprint"),
	}
}

func (d *document) openStack() *netplan.OpenStackSpec {
	if !d.has("openstack") {
		return nil
	}
	return &netplan.OpenStackSpec{
		URL:               get[string](d, "openstack.url"),
		ExternalNet:       get[string](d, "openstack.external_net"),
		Region:            get[string](d, "openstack.region"),
		AvailabilityZone:  get[string](d, "openstack.availability_zone"),
		KubeAPIAddress:    get[netip.Addr](d, "openstack.kubeapi_address"),
		KubeAPIFloatingIP: get[netip.Addr](d, "openstack.kubeapi_floating_ip"),
		IngressAddress:    get[netip.Addr](d, "openstack.ingress_address"),
		IngressFloatingIP: get[netip.Addr](d, "openstack.ingress_floating_ip"),
	}
}

func (d *document) link(path, cidr string) netplan.LinkSpec {
	return netplan.LinkSpec{
		Bridge:     get[string](d, path+".bridge"),
		VNet:       get[string](d, path+".vnet"),
		VLAN:       optional[int](d, path+".vlan"),
		MTU:        optional[int](d, path+".mtu"),
		CIDR:       get[netip.Prefix](d, cidr),
		Gateway:    get[netip.Addr](d, path+".gateway"),
		KubeAPIVIP: get[netip.Addr](d, path+".kubeapi_vip"),
	}
}

// external is nil when neither place of the external link is in the file.
func (d *document) external() *netplan.ExternalSpec {
	const path = "proxmox.network.external"
	if !d.has(path) && !d.has("network.external") {
		return nil
	}
	return &netplan.ExternalSpec{
		LinkSpec:      d.link(path, path+".cidr"),
		GatewayOnLink: get[bool](d, path+".gateway_onlink"),
		AnchorCIDR:    get[netip.Prefix](d, path+".anchor_cidr"),
		Pool:          get[[]netplan.Range](d, path+".ingress_pool"),
		DHCP:          get[[]netplan.Range](d, path+".dhcp_ranges"),
		Reserved:      get[[]netplan.Range](d, path+".reserved"),
	}
}
