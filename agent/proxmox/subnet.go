package proxmox

import (
	"encoding/json"
	"net/netip"
	"strings"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// sdnSubnet is a subnet as the server gives it. Its name says zone and network
// too, for the case that they are not given beside it.
type sdnSubnet struct {
	ID      string     `json:"subnet"`
	VNet    Text       `json:"vnet"`
	Zone    Text       `json:"zone"`
	CIDR    Text       `json:"cidr"`
	Gateway Text       `json:"gateway"`
	DHCP    dhcpRanges `json:"dhcp-range"`
}

// dhcpRanges are the server's, which writes them as objects, as texts
// "start-address=A,end-address=B", or all in one such text.
type dhcpRanges []dhcpRange

type dhcpRange struct {
	Start string `json:"start-address"`
	End   string `json:"end-address"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *dhcpRanges) UnmarshalJSON(data []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		list = []json.RawMessage{data}
	}
	*d = nil
	for _, item := range list {
		var text string
		if json.Unmarshal(item, &text) == nil {
			*d = append(*d, parseDHCPRanges(text)...)
			continue
		}
		var r dhcpRange
		if err := json.Unmarshal(item, &r); err != nil {
			return err
		}
		*d = append(*d, r)
	}
	return nil
}

// parseDHCPRanges reads a text of ranges. One with a start or an end alone is kept,
// for whoever reads it must not take it for none.
func parseDHCPRanges(text string) []dhcpRange {
	var list []dhcpRange
	var r dhcpRange
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "start-address":
			r.Start = value
		case "end-address":
			r.End = value
		}
		if r.Start != "" && r.End != "" {
			list, r = append(list, r), dhcpRange{}
		}
	}
	if r != (dhcpRange{}) {
		list = append(list, r)
	}
	return list
}

// convert is not ok when something in it cannot be read; an IPv6 subnet is nothing
// to us, and ok with an invalid CIDR never comes of it.
func (n sdnSubnet) convert(vnet, zone string) (inventory.Subnet, bool) {
	out := inventory.Subnet{ID: n.ID, VNet: vnet, Zone: zone}
	cidr, err := netip.ParsePrefix(string(n.CIDR))
	if err != nil {
		if _, cidr, err = inventory.ParseSubnetID(n.ID); err != nil {
			return out, false
		}
	}
	out.CIDR = cidr
	if gateway, err := netip.ParseAddr(string(n.Gateway)); err == nil {
		out.Gateway = gateway
	}
	for _, r := range n.DHCP {
		first, err1 := netip.ParseAddr(r.Start)
		last, err2 := netip.ParseAddr(r.End)
		if err1 != nil || err2 != nil || last.Less(first) {
			return out, false
		}
		if first.Is4() {
			out.DHCP = append(out.DHCP, netplan.Range{First: first, Last: last})
		}
	}
	return out, true
}
