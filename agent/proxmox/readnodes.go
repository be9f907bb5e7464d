package proxmox

import (
	"context"
	"encoding/binary"
	"math/bits"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// nodeInterface is an interface as the server gives it: numbers come as texts.
type nodeInterface struct {
	Name      string `json:"iface"`
	Type      string `json:"type"`
	Ports     Text   `json:"bridge_ports"`
	OVSPorts  Text   `json:"ovs_ports"`
	CIDR      Text   `json:"cidr"`
	Address   Text   `json:"address"`
	Netmask   Text   `json:"netmask"`
	RawDevice Text   `json:"vlan-raw-device"`
	VLAN      Number `json:"vlan-id"`
	Aware     Flag   `json:"bridge_vlan_aware"`
	VIDs      Text   `json:"bridge_vids"`
	MTU       Number `json:"mtu"`
	Active    Flag   `json:"active"`
}

// allVIDs is what a VLAN-aware bridge lets through when nobody says.
const allVIDs = "2-4094"

// ReadNodes reads the nodes and their interfaces alone, for who has everything else
// from a Proxmox host's own files: one request, and one per node.
func ReadNodes(ctx context.Context, api API, o ReadOptions) ([]inventory.Node, []inventory.Unread, error) {
	r := newReader(api, o)
	if err := r.nodes(ctx); err != nil {
		return nil, nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	for i := range r.snapshot.Nodes {
		n := &r.snapshot.Nodes[i]
		if !n.Online {
			r.unread(inventory.InterfacesOf(n.Name), nodeOffline)
			continue
		}
		group.Go(func() error { return r.interfaces(ctx, n) })
	}
	err := group.Wait()
	r.sort()
	return r.snapshot.Nodes, r.snapshot.Unread, err
}

// interfaces reads one node's.
func (r *reader) interfaces(ctx context.Context, n *inventory.Node) error {
	var list []nodeInterface
	err := r.get(ctx, n.Name, Path("nodes", n.Name, "network"), url.Values{"type": {"include_sdn"}}, &list)
	if err != nil {
		return r.failed(ctx, inventory.InterfacesOf(n.Name), err)
	}
	out := make([]inventory.Interface, 0, len(list))
	for _, i := range list {
		out = append(out, i.convert())
	}
	n.Interfaces = out
	return nil
}

func (i nodeInterface) convert() inventory.Interface {
	out := inventory.Interface{
		Name: i.Name, Type: i.Type, VLANAware: bool(i.Aware), VIDs: string(i.VIDs), MTU: int(i.MTU), Active: bool(i.Active),
		Ports: strings.Fields(string(i.Ports + " " + i.OVSPorts)),
	}
	if len(out.Ports) == 0 {
		out.Ports = nil
	}
	if out.VLANAware && out.VIDs == "" {
		out.VIDs = allVIDs
	}
	if p, ok := i.prefix(); ok {
		out.Addresses = []netip.Prefix{p}
	}
	if i.Type == "vlan" || i.RawDevice != "" {
		out.VLANRaw, out.VLAN = vlanOf(i.Name, string(i.RawDevice), int(i.VLAN))
	}
	return out
}

// prefix is the IPv4 address with its length, /32 where the server gives none.
func (i nodeInterface) prefix() (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(string(i.CIDR)); err == nil && p.Addr().Is4() {
		return p, true
	}
	a, err := netip.ParseAddr(string(i.Address))
	if err != nil || !a.Is4() {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, maskLength(string(i.Netmask))), true
}

// maskLength reads a mask given as a length or in dots, 32 for none.
func maskLength(text string) int {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 && n <= 32 {
		return n
	}
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Is4() {
		return 32
	}
	b := a.As4()
	return bits.LeadingZeros32(^binary.BigEndian.Uint32(b[:]))
}

// vlanOf completes what a VLAN interface's name says: eno1.1691, or vlan1691 with a
// raw device.
func vlanOf(name, raw string, id int) (string, netplan.VLAN) {
	tag := strings.TrimPrefix(name, "vlan")
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		tag = name[dot+1:]
		if raw == "" {
			raw = name[:dot]
		}
	}
	if id == 0 {
		id, _ = strconv.Atoi(tag)
	}
	if id < 1 || id > 4094 {
		id = 0
	}
	return raw, netplan.VLAN(id)
}
