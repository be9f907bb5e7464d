package talosgen

import (
	"fmt"

	"homeward/netplan"
)

// Table gives the nft text of the table that both kinds of static pod keep on a
// machine, as `nft -f` takes it. An empty nic is "not found": then no connection
// is marked, and replies of marked ones are still sent home. It is empty where
// p.MarksConnections(m) is false.
func Table(p *netplan.Plan, m netplan.Machine, nic string) string {
	if !p.MarksConnections(m) {
		return ""
	}
	t := newTableText(p, m)
	rule := ""
	if nic != "" {
		rule = fmt.Sprintf("\t\tiifname \"%s\" %s\n", nic, t.marking)
	}
	return "table inet " + netplan.NFTablesTable + " {\n" + t.before + "\n" + rule + t.after + "\n}\n"
}
