package inventory

import (
	"strconv"
	"strings"

	"homeward/netplan"
)

// Source names the guest as an operator finds it: `VM 113 "db1" on pve2`. A name
// that is hostile to a terminal comes quoted and cut, as everywhere here.
func (g Guest) Source() string {
	text := guestWord(&g)
	if g.Name != "" {
		text += " " + netplan.Quote(g.Name)
	}
	if g.Node != "" {
		text += " on " + clean(g.Node)
	}
	return text
}

// guestWord is the shortest name of a guest, VM 113.
func guestWord(g *Guest) string {
	if g.Kind == LXC {
		return "CT " + strconv.Itoa(g.VMID)
	}
	return "VM " + strconv.Itoa(g.VMID)
}

// maxClean is the longest name that is shown without quotes, in bytes.
const maxClean = 64

// clean gives a name as it is where it is one of plain letters, and quoted where
// it could be anything.
func clean(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/:+", r)
	}
	if s == "" || len(s) > maxClean || strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return netplan.Quote(s)
	}
	return s
}

// named is a segment for a note: as its String, with a name fit for a terminal.
func named(s netplan.Segment) string {
	if s.VNet != "" {
		s.VNet = clean(s.VNet)
	} else {
		s.Bridge = clean(s.Bridge)
	}
	return s.String()
}

// some lists the first few of many, for a note.
func some(items []string) string {
	const shown = 5
	if len(items) <= shown {
		return strings.Join(items, "; ")
	}
	return strings.Join(items[:shown], "; ") + "; and " + strconv.Itoa(len(items)-shown) + " more"
}

// counted gives "1 guest" or "7 guests".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// InterfacesOf is the source that a node's interfaces are, for Unread.
func InterfacesOf(node string) string { return "node " + clean(node) + ", its interfaces" }
