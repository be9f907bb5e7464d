package talosgen

import (
	"slices"
	"strconv"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/api/resource/definitions/network"
	"github.com/siderolabs/talos/pkg/machinery/cel"
	"github.com/siderolabs/talos/pkg/machinery/cel/celenv"
	"go.yaml.in/yaml/v4"

	"homeward/netplan"
)

// namedLinks are the kinds whose name is a link's.
var namedLinks = []string{
	"LinkConfig", "BondConfig", "BridgeConfig", "DummyLinkConfig", "VLANConfig", "VRFConfig", "WireguardConfig",
	"DHCPv4Config", "EthernetConfig",
}

// links refuses a foreign document that takes one of our aliases, or that gives
// one of our NICs another alias.
func (f *refusal) links(d *document) {
	if isAlias(d.name) && (d.kind == "LinkAliasConfig" || slices.Contains(namedLinks, d.kind)) && f.uses(d.name) {
		f.add(d, nil, "takes the name of our link: rename it; if an earlier plan made it, start from the base that talosctl made")
		return
	}
	if d.kind != "LinkAliasConfig" {
		return
	}
	match := scalar(d.root, "selector", "match")
	for _, mac := range []netplan.MAC{f.machine.MACs.Cluster, f.machine.MACs.External} {
		if !mac.IsZero() && (strings.Contains(strings.ToLower(match), mac.String()) || selects(match, mac)) {
			f.add(d, nil, "matches our NIC %s, which can have one alias only: narrow its selector", mac)
		}
	}
}

// uses says whether the machine has the link of that alias.
func (f *refusal) uses(alias string) bool { return alias == netplan.AliasPrivate || f.machine.External }

// etherType is ARPHRD_ETHER of the kernel's if_arp.h.
const etherType = 1

// selects asks a selector as Talos would, for a virtio NIC with that address. An
// expression that does not parse selects nothing; loading refuses it.
func selects(match string, mac netplan.MAC) bool {
	expr, err := cel.ParseBooleanExpression(match, celenv.LinkLocator())
	if err != nil {
		return false
	}
	nic := &network.LinkStatusSpec{HardwareAddr: mac[:], PermanentAddr: mac[:], Driver: "virtio_net", Type: etherType}
	yes, err := expr.EvalBool(celenv.LinkLocator(), map[string]any{"link": nic})
	return err == nil && yes
}

// rule refuses a foreign routing rule at one of our priorities, however it is
// spelled, and one that takes our mark.
func (f *refusal) rule(d *document) {
	rp := f.renderer.plan.ReturnPath
	if d.kind != "RoutingRuleConfig" || rp == nil {
		return
	}
	n, err := strconv.ParseUint(d.name, 10, 32)
	ours := []netplan.Priority{rp.Priorities.VIP, rp.Priorities.Mark, rp.Priorities.VIPUnreachable, rp.Priorities.MarkUnreachable}
	if err == nil && slices.Contains(ours, netplan.Priority(n)) {
		f.add(d, nil, "stands at priority %d, which is Homeward's: move it, or set return_path.priority", n)
	}
	mark, err := strconv.ParseUint(scalar(d.root, "fwMark"), 0, 32)
	if err == nil && uint32(mark)&uint32(rp.Mask) != 0 {
		f.add(d, nil, "matches the mark %s, which is Homeward's: use another, or set return_path.mark", rp.Mark)
	}
}

// table refuses any rule or route into our table: whatever it steers there (pods,
// services, the external network) would leave by the external NIC with a source
// nobody outside answers. Every kind that can name a table calls it so.
func (f *refusal) table(d *document, n *yaml.Node) {
	rp := f.renderer.plan.ReturnPath
	if rp == nil || n == nil {
		return
	}
	for i, child := range n.Content {
		isTable := n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "table"
		if v := resolve(child); isTable && v.Kind == yaml.ScalarNode && v.Value == strconv.FormatUint(uint64(rp.Table), 10) {
			f.add(d, child, "steers %s into table %d, which is Homeward's: use another, or set return_path.table", steered(n), rp.Table)
		}
		f.table(d, child)
	}
}

// steered names what a rule or route is for.
func steered(n *yaml.Node) string {
	for _, key := range []string{"src", "dst", "destination"} {
		if v := scalar(n, key); v != "" {
			return key + " " + netplan.Quote(v)
		}
	}
	return "everything"
}
