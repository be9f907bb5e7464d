package netplan

import (
	"fmt"
	"strconv"
	"strings"
)

// Mark is the bit that Homeward sets in connection and packet marks.
// Its text form is hexadecimal ("0x2000").
type Mark uint32

// Mask selects the bits of a mark that are ours. Its text form is hexadecimal.
type Mask uint32

// TableID is a Linux routing table, 1..252 where Talos is to name it.
type TableID uint32

// Priority is the priority of a Linux routing rule; lower is asked first.
type Priority uint32

// VLAN is an IEEE 802.1Q VLAN identifier, 1..4094. Zero is untagged.
type VLAN uint16

// The numbers of the return path. Each is free of every neighbour in
// neighbours.go; an operator may move the first four in return_path.
const (
	// DefaultMark and DefaultMask are one bit that no common neighbour uses:
	// 0x1000 and 0x2000 are the only two above the low byte.
	DefaultMark Mark = 0x2000
	DefaultMask Mask = 0x2000
	// DefaultTable is free of Calico (1-250), KubeSpan (180), Cilium (200),
	// Tailscale (52) and the kernel (253-255), and Talos can name it (1..252).
	DefaultTable TableID = 251
	// DefaultPriority is free on Talos with flannel, Calico and Cilium up to 1010
	// and below Tailscale (5210) and KubeSpan (32500).
	DefaultPriority Priority = 1000

	// The distance of each of our rules from the plan's priority.
	markRuleOffset            Priority = 1
	vipUnreachableRuleOffset  Priority = 10
	markUnreachableRuleOffset Priority = 11
	// preferMainRuleOffset is how far before the plan's priority its rule stands.
	// AWS's CNI alone has rules around there (10-1536).
	preferMainRuleOffset Priority = 1

	// TalosRouteMetric is the metric Talos gives its routes. Routes that an agent
	// owns must have another one, or Talos fights for them.
	TalosRouteMetric = 1024

	// AgentProtocol owns the routes and rules of an agent with --routes=manage.
	// rtnetlink.h and rt_protos name 0-4, 8-18, 42, 84, 99, 186-189 and 192, FRR
	// takes 196 and above, Calico 80; 4 (static) is what Talos deletes and replaces.
	AgentProtocol RouteProtocol = 72
	// AgentRouteMetric is the metric of such routes: in front of Talos's.
	AgentRouteMetric = 72
)

// Names that stand in the kernel, shared by the generator, both kinds of static
// pod and the clean-up.
const (
	// NFTablesTable is the name of our table, family inet.
	NFTablesTable = "homeward"
	// NFTablesScratchTable is a dormant table that the nft pod makes for a moment to
	// learn how nft lists ours; a pod killed then leaves it, without any effect.
	NFTablesScratchTable = "homeward_listing"
	// NFTablesSet is the set of destination addresses that are marked.
	NFTablesSet = "ingress4"
	// PodName is the static pod's name, in kube-system.
	PodName = "homeward-return-path"
	// AgentPort is the TCP port of the agent's health, state and metrics.
	AgentPort = 9465
	// LabelExternal is the node label, with value "true", of machines that have
	// the external NIC where a pool exists; MetalLB selects its announcers by it.
	LabelExternal = "node.homeward/external"
	// NFTablesPriority is the hook priority of both chains: right behind the kernel's
	// mangle (-150), after conntrack (-200), before Talos's ingress (-140, -110) and
	// kube-proxy's dstnat (-100). Not mangle itself: of chains with one priority the
	// kernel asks the youngest first, and some there assign the whole mark (Tailscale,
	// TPROXY), so that whoever was restarted last would lose.
	NFTablesPriority = -149
)

// What an earlier scheme left on nodes: it is recognised and reported, and
// removed only on request. Its mark is the same bit as DefaultMark.
const (
	LegacyNFTablesTable          = "taloscluster_return_path"
	LegacyMark          Mark     = 0x2000
	LegacyTable         TableID  = 100
	LegacyVIPPriority   Priority = 1000
	LegacyMarkPriority  Priority = 1001
)

// Ports that Talos, Kubernetes and the web fix, and the allowlists of security that
// mean them.
const (
	PortKubernetesAPI = 6443
	PortTalosAPI      = 50000
	PortHTTP          = 80
	PortHTTPS         = 443

	AllowKubernetes = "kubernetes"
	AllowTalos      = "talos"
	AllowHTTP       = "http"
	AllowHTTPS      = "https"
)

// DefaultMTU is a link's MTU in bytes when nobody says anything.
const DefaultMTU = 1500

// The links' aliases in Talos documents. An alias is IFLA_IFALIAS, not a kernel
// interface name: nft, ip and MetalLB do not know it.
const (
	AliasPrivate  = "private"
	AliasExternal = "external"
)

// ParseMark reads a mark as decimal or 0x-hexadecimal.
func ParseMark(s string) (Mark, error) {
	v, err := parseBits(s)
	return Mark(v), err
}

// ParseMask reads a mask as decimal or 0x-hexadecimal.
func ParseMask(s string) (Mask, error) {
	v, err := parseBits(s)
	return Mask(v), err
}

func parseBits(s string) (uint32, error) {
	v, err := strconv.ParseUint(strings.TrimSpace(s), 0, 32)
	if err != nil {
		return 0, fmt.Errorf("%s is not a 32-bit number: give it like 0x2000", Quote(s))
	}
	return uint32(v), nil
}

// String gives the mark in hexadecimal, as nft and ip print it.
func (m Mark) String() string { return fmt.Sprintf("0x%x", uint32(m)) }

// MarshalText implements encoding.TextMarshaler.
func (m Mark) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Mark) UnmarshalText(b []byte) (err error) {
	*m, err = ParseMark(string(b))
	return err
}

// String gives the mask in hexadecimal.
func (m Mask) String() string { return fmt.Sprintf("0x%x", uint32(m)) }

// MarshalText implements encoding.TextMarshaler.
func (m Mask) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Mask) UnmarshalText(b []byte) (err error) {
	*m, err = ParseMask(string(b))
	return err
}
