package netplan

import (
	"fmt"
	"strings"
)

// A neighbour is other software on a node that sets bits of the packet mark, owns
// routing tables or has routing rules. The sources are its own documentation and
// defaults; what they do together is replayed in testenv/neighbours.
type neighbour struct {
	name string
	// bits of the mark it may set, zero when it sets none.
	bits Mask
	// tables it owns, as inclusive ranges.
	tables [][2]TableID
	// priorities of its rules, as inclusive ranges.
	priorities [][2]Priority
	// only says that it is there only with this CNI, or with one that we do not know.
	only string
}

// tailscaleRules is where Tailscale's rules stand.
var tailscaleRules = [2]Priority{5200, 5299}

// neighbours are checked against return_path. 0x1000 and 0x2000 are what they leave
// free below the third byte, and 0x1000 not beside Cilium.
//
// NetBird is not among them: its marks (0x1bd00 to 0x1bdff, compared whole) have both
// bits, so that no default would do. A plan does not say whether it is on the nodes; the
// agent sees it, and says so.
var neighbours = []neighbour{
	// Masquerade 0x4000, drop 0x8000 (pkg/proxy, pkg/kubelet).
	{name: "kube-proxy", bits: 0xc000},
	// 0x20 and 0x40 (Talos pkg/machinery/constants); the priority goes down from 32500
	// where that is taken.
	{name: "KubeSpan", bits: 0x60, tables: [][2]TableID{{180, 180}}, priorities: [][2]Priority{{32490, 32500}}},
	// Mask 0xff0000 (tsconst). tailscaled deletes rules by priority and table alone, and
	// puts its own back when any of 5200 to 5299 goes (wgengine/router).
	{name: "Tailscale", bits: 0xff0000, tables: [][2]TableID{{52, 52}}, priorities: [][2]Priority{tailscaleRules}},
	{name: "Weave", bits: 0x20000},        // 0x20000/0x20000
	{name: "the AWS VPC CNI", bits: 0x80}, // 0x80/0x80
	// 0x539 and 0x111, both of mask 0xfff (cni/pkg/iptables); now in pods only.
	{name: "Istio", bits: 0xfff},
	// Identity in the upper 16 bits and the low byte, 0x0f00 for what a packet is, 0x1000
	// for what WireGuard encrypted (bpf/lib/common.h, pkg/datapath/linux/linux_defaults).
	// IPsec has its key in 0xf000, see warnings.go. Tables: IPsec, WireGuard, VTEP; 2004
	// and 2005 of the proxy lie outside 1..252. Rules: 0 to 112, the local table's moved
	// to 100 among them.
	{name: "Cilium", bits: 0xffff1fff, tables: [][2]TableID{{200, 202}}, priorities: [][2]Priority{{0, 112}}, only: "cilium"},
	// Default iptablesMarkMask and nftablesMarkMask, routeTableRanges,
	// wireguardRoutingRulePriority (FelixConfiguration).
	{name: "Calico", bits: 0xffff0000, tables: [][2]TableID{{1, 250}}, priorities: [][2]Priority{{99, 99}}, only: "calico"},
}

// cniUnknown is a plan's cni for any that we do not know.
const cniUnknown = "none"

// markOwner names who uses one of the bits beside this CNI, "" when nobody does.
func markOwner(mask Mask, cni string) (string, Mask) {
	for _, n := range neighbours {
		there := n.only == "" || n.only == cni || cni == cniUnknown
		if there && n.bits&mask != 0 {
			return n.name, n.bits
		}
	}
	return "", 0
}

// freeMarks names the bits that nobody uses beside this CNI, for a message.
func freeMarks(cni string) string {
	var free []string
	for _, m := range []Mark{DefaultMark, 0x1000} {
		if owner, _ := markOwner(Mask(m), cni); owner == "" {
			free = append(free, m.String())
		}
	}
	return fmt.Sprintf("give mark and mask both %s", strings.Join(free, ", or both "))
}

// tableOwner names who owns the table beside this CNI, "" when nobody does.
func tableOwner(table TableID, cni string) string {
	for _, n := range neighbours {
		if n.only != "" && n.only != cni {
			continue
		}
		for _, r := range n.tables {
			if r[0] <= table && table <= r[1] {
				return n.name
			}
		}
	}
	return ""
}

// priorityOwner names who has rules at one of the priorities beside this CNI, and
// where; "" when nobody has.
func priorityOwner(priorities []Priority, cni string) (string, [2]Priority) {
	for _, n := range neighbours {
		if n.only != "" && n.only != cni {
			continue
		}
		for _, r := range n.priorities {
			for _, p := range priorities {
				if r[0] <= p && p <= r[1] {
					return n.name, r
				}
			}
		}
	}
	return "", [2]Priority{}
}
