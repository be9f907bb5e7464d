//go:build linux

package neighbours

import "slices"

// All lists the neighbours.
func All() []Neighbour { return slices.Concat(networkPlugins(), tailscales(), parts()) }

// networkPlugins are the CNIs that mark packets or write rules.
func networkPlugins() []Neighbour {
	return []Neighbour{
		{
			Name: "Calico", Link: "wireguard.cali", scripts: []string{"calico.sh"}, iptables: "legacy",
			Flows: []Flow{
				{From: FromNode, To: farPod, Link: "wireguard.cali"},
				{From: FromNode, Mark: 0x100000, To: farPod, Link: private},
				{From: FromPod, To: gateway, Link: private, As: node},
			},
			OnReplies: Bits{0x10000, 0x10000},
		},
		{
			Name: "Calico, nftables", scripts: []string{"calico-nft.sh"},
			Flows:     []Flow{{From: FromPod, To: gateway, Link: private, As: node}},
			OnReplies: Bits{0x10000, 0x10000},
		},
		{
			Name: "Cilium", Link: "cilium_host", scripts: []string{"cilium.sh"}, iptables: "nft",
			Flows: []Flow{
				{From: FromNode, Source: node, Mark: 0x200, To: internet, Link: "lo"},
				{From: FromNode, Mark: 0xa00, To: internet, Link: "cilium_host"},
				{From: FromNode, To: internet, Link: private},
				{From: FromPod, To: gateway, Link: private, As: node},
			},
			OnReplies: Bits{0x12340f00, 0xffff0fff},
		},
		{Name: "flannel", scripts: []string{"flannel.sh"}, iptables: "nft", Flows: flannelFlows()},
		{Name: "flannel, nftables", scripts: []string{"flannel-nft.sh"}, Flows: flannelFlows()},
	}
}

// tailscales are Tailscale's ways to filter.
func tailscales() []Neighbour {
	return []Neighbour{
		{
			Name: "Tailscale", Link: "tailscale0", scripts: []string{"tailscale.sh"}, iptables: "legacy",
			Flows: tailscaleFlows(), Restores: Bits{0x80000, 0xff0000}, TakesDefault: true,
		},
		{
			Name: "Tailscale, nftables", Link: "tailscale0", scripts: []string{"tailscale.sh", "tailscale-nft.sh"},
			values: []string{
				"MASK=0xff0000", "SUBNETMARK=0x40000", "SUBNET=meta mark and 0xff00ffff or 0x40000",
				"RESTORE=ct state established,related ct mark and 0xff0000 != 0 meta mark set ct mark and 0xff0000",
				"SAVE=ct state new meta mark and 0xff0000 != 0 ct mark set meta mark and 0xff0000",
			},
			Flows: tailscaleFlows(), Restores: Bits{0x80000, 0xff0000}, TakesDefault: true,
		},
		{
			// From 1.96 to 1.98 the mask had the other byte order, and the mark was put
			// back on every packet (tailscale/tailscale issue 11803, pull requests 18860
			// and 19725).
			Name: "Tailscale 1.96, nftables", Link: "tailscale0", scripts: []string{"tailscale.sh", "tailscale-nft.sh"},
			values: []string{
				"MASK=0xff00", "SUBNETMARK=0x400", "SUBNET=meta mark and 0xffff04ff or 0x400",
				"RESTORE=ct state established,related meta mark set ct mark and 0xff00",
				"SAVE=ct state new meta mark and 0xff00 != 0 ct mark set meta mark and 0xff00",
			},
			Flows: tailscaleFlows(), TakesDefault: true,
		},
	}
}

// parts are those of Talos and Kubernetes themselves.
func parts() []Neighbour {
	return []Neighbour{
		{
			Name: "KubeSpan", Link: "kubespan", scripts: []string{"kubespan.sh"},
			Flows: []Flow{
				{From: FromNode, To: peer, Link: "kubespan"},
				{From: FromNode, Mark: 0x20, To: peer, Link: private},
				{From: FromPod, To: peer, Link: "kubespan"},
				{From: FromNode, To: internet, Link: private},
			},
		},
		{
			Name: "kube-proxy", scripts: []string{"kubeproxy.sh"}, iptables: "nft",
			Flows: []Flow{
				{From: FromNode, Source: podGateway, To: gateway, Link: private, As: podGateway},
				{From: FromNode, Source: podGateway, Mark: 0x4000, To: gateway, Link: private, As: node},
				{From: FromNode, Mark: 0x8000, To: gateway, Link: nowhere},
			},
		},
	}
}

// NetBird is not in All: its marks have both bits that the others leave free, so that it
// and Homeward's defaults do not go together.
func NetBird() Neighbour {
	return Neighbour{
		Name: "NetBird", Link: "wt0", scripts: []string{"netbird.sh"},
		Flows: []Flow{
			{From: FromNode, To: tailnet, Link: "wt0"},
			{From: FromNode, Mark: 0x1bd00, To: internet, Link: private},
			{From: FromTunnel, To: gateway, Link: private},
		},
	}
}

func tailscaleFlows() []Flow {
	return []Flow{
		{From: FromNode, To: tailnet, Link: "tailscale0"},
		{From: FromNode, To: internet, Link: "tailscale0"},
		{From: FromNode, Mark: 0x80000, To: internet, Link: private},
		{From: FromTunnel, To: gateway, Link: private, As: node},
		{From: FromPod, To: internet, Link: nowhere},
	}
}

func flannelFlows() []Flow {
	return []Flow{
		{From: FromPod, To: gateway, Link: private, As: node},
		{From: FromPod, To: otherPod, Link: private},
	}
}
