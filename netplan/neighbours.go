package netplan

// A neighbour is other software on a node that sets bits of the packet mark or
// owns a routing table. The sources are its own documentation and defaults.
type neighbour struct {
	name string
	// bits of the mark it may set, zero when it sets none.
	bits Mask
	// tables it owns, as inclusive ranges.
	tables [][2]TableID
	// only says that it counts only when the plan declares this CNI.
	only string
}

// neighbours are checked against return_path. 0x1000 and 0x2000 are what they
// leave free.
var neighbours = []neighbour{
	{name: "kube-proxy", bits: 0xc000},                                  // masquerade 0x4000, drop 0x8000
	{name: "KubeSpan", bits: 0x60, tables: [][2]TableID{{180, 180}}},    // fwmark 0x20/0x40
	{name: "Tailscale", bits: 0xff0000, tables: [][2]TableID{{52, 52}}}, // fwmark mask 0xff0000
	{name: "Weave", bits: 0x20000},                                      // 0x20000/0x20000
	{name: "the AWS VPC CNI", bits: 0x80},                               // 0x80/0x80
	{name: "Istio", bits: 0x539},                                        // the whole mark 0x539
	{name: "Cilium", bits: 0xffff0f00},                                  // 0x0f00 and the upper 16 bits
	{name: "Calico", bits: 0xffff0000},                                  // default iptablesMarkMask
	{name: "Calico", tables: [][2]TableID{{1, 250}}, only: "calico"},    // default routeTableRanges
	{name: "Cilium", tables: [][2]TableID{{200, 200}}, only: "cilium"},  // proxy routing; 2004 and 2005 lie outside 1..252
}

// markOwner names who uses one of the bits, "" when nobody does.
func markOwner(mask Mask) (string, Mask) {
	for _, n := range neighbours {
		if n.bits&mask != 0 {
			return n.name, n.bits
		}
	}
	return "", 0
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
