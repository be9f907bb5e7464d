//go:build linux

package kernel

import (
	"encoding/binary"
	"strings"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"homeward/netplan"
)

// nftChange says whether an nftables event is about our table or the earlier
// scheme's. Every kind of message but the closing NEWGEN has the table's name in
// attribute 1 (NFTA_TABLE_NAME, NFTA_CHAIN_TABLE, NFTA_RULE_TABLE, ...), and most
// have it first, so that a foreign table of any size costs next to nothing.
func nftChange(m netlink.Message) string {
	const genmsgLength, tableAttribute = 4, 1
	if m.Header.Type>>8 != unix.NFNL_SUBSYS_NFTABLES || m.Header.Type&0xff == unix.NFT_MSG_NEWGEN {
		return ""
	}
	name, ok := attribute(m.Data, genmsgLength, tableAttribute)
	if !ok {
		return ""
	}
	switch strings.TrimRight(string(name), "\x00") {
	case netplan.NFTablesTable, netplan.LegacyNFTablesTable:
		return "table"
	}
	return ""
}

// routingChange says what kind of thing an event of rtnetlink is about. Routes of
// the main and local tables count only when they are default routes: a node's
// pods come and go.
func routingChange(m netlink.Message) string {
	switch m.Header.Type {
	case unix.RTM_NEWLINK, unix.RTM_DELLINK:
		return "link"
	case unix.RTM_NEWADDR, unix.RTM_DELADDR:
		return "address"
	case unix.RTM_NEWRULE, unix.RTM_DELRULE:
		return "rule"
	case unix.RTM_NEWROUTE, unix.RTM_DELROUTE:
		if len(m.Data) < unix.SizeofRtMsg {
			return ""
		}
		// struct rtmsg: dst_len is its second byte, table its fifth; a table above
		// 255 stands there as RT_TABLE_COMPAT, which is neither of the two.
		bits, table := m.Data[1], m.Data[4]
		if bits > 0 && (table == unix.RT_TABLE_MAIN || table == unix.RT_TABLE_LOCAL) {
			return ""
		}
		return "route"
	}
	return ""
}

// attribute finds a netlink attribute behind a header of skip bytes.
func attribute(b []byte, skip int, kind uint16) ([]byte, bool) {
	if len(b) < skip {
		return nil, false
	}
	b = b[skip:]
	for len(b) >= unix.SizeofNlAttr {
		length := int(binary.NativeEndian.Uint16(b))
		if length < unix.SizeofNlAttr || length > len(b) {
			return nil, false
		}
		if binary.NativeEndian.Uint16(b[2:])&^(unix.NLA_F_NESTED|unix.NLA_F_NET_BYTEORDER) == kind {
			return b[unix.SizeofNlAttr:length], true
		}
		b = b[min(len(b), (length+unix.NLA_ALIGNTO-1)&^(unix.NLA_ALIGNTO-1)):]
	}
	return nil, false
}
