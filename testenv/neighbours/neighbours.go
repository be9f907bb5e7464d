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
