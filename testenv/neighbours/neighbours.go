//go:build linux

package neighbours

import (
	"net/netip"

	"homeward/testenv/netlab"
)

// Neighbour is one kind of software, in one of its variants.
type Neighbour struct {
	// Name is for messages and subtests.
	Name string
	// Link is the name of the link of its own that it has, empty for none.
	Link string
	// scripts are files below replay, read in this order: what a later one defines
	// takes the place of an earlier one's.
	scripts []string
	// iptables is the variant that it runs: nft or legacy.
	iptables string
	// values are more variables for its scripts.
	values []string
	// Flows are what its own traffic does while it is installed.
	Flows []Flow
	// OnReplies is what packets that leave by the external link carry of its bits, at
	// least some of them; zero when it leaves them alone.
	OnReplies Bits
	// TakesDefault says that what the node itself sends leaves by its link unless it is
	// marked. A UDP server of the node that listens on every address then answers from
	// that link's address, whatever is done for its packets afterwards: the kernel
	// chooses the source before any rule sees the packet.
	TakesDefault bool
	// Restores is what it puts back from the connection on the answers to what it sent
	// with that mark; zero when it does nothing of the kind.
	Restores Bits
}

// Bits are some bits of a packet mark and what they are.
type Bits struct{ Mark, Mask uint32 }

// Origin is where a flow begins.
type Origin string

// The origins: the node itself, its pod, and the far end of the neighbour's own link.
const (
	FromNode   Origin = "node"
	FromPod    Origin = "pod"
	FromTunnel Origin = "tunnel"
)

// Flow is a UDP datagram and where it must go.
type Flow struct {
	From Origin
	// Mark is the socket's, zero for none; only FromNode.
	Mark uint32
	// Source binds the socket; the zero Addr leaves it to the kernel.
	Source netip.Addr
	To     netip.Addr
	// Link is the node's link that it leaves by: "lo" when it is delivered to the node,
	// empty when it leaves by none.
	Link string
	// As is its source where it leaves; the zero Addr is any.
	As netip.Addr
}

// The lab's links, as its nodes call them.
const (
	private = "ens18"
	podLink = "veth-pod"
	nowhere = ""
)

// Addresses that flows go to.
var (
	// internet is behind no network of the lab.
	internet = netip.MustParseAddr("198.51.100.77")
	// tailnet is another machine's in a tailnet, and the far end's of its link.
	tailnet = netip.MustParseAddr("100.64.0.9")
	// peer is another node's that KubeSpan reaches.
	peer = netip.MustParseAddr("10.90.7.7")
	// farPod is a pod that only a neighbour's link leads to.
	farPod = netip.MustParseAddr("10.244.9.5")
	// podGateway is the node's own address on its pod's link.
	podGateway = netip.MustParseAddr("10.244.1.1")
	// node, gateway and otherPod are the lab's.
	node     = netip.MustParseAddr("10.90.0.11")
	gateway  = netlab.DefaultAddresses().PrivateGateway
	otherPod = netip.MustParseAddr("10.244.2.10")
)

// All lists the neighbours.
func All() []Neighbour {
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
		{Name: "flannel", scripts: []string{"flannel.sh"}, iptables: "nft", Flows: flannelFlows()},
		{Name: "flannel, nftables", scripts: []string{"flannel-nft.sh"}, Flows: flannelFlows()},
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
