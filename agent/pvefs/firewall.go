package pvefs

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"strings"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// firewallDir has the cluster's rules in cluster.fw and each guest's in VMID.fw.
const firewallDir = "firewall"

// clusterScope is the Scope of the cluster's own sets and aliases.
const clusterScope = "cluster"

// firewall reads aliases and sets, the cluster's and the guests'.
func (r *reader) firewall() {
	sources := map[int]string{}
	for _, g := range r.out.Guests {
		sources[g.VMID] = g.Source()
	}
	if b := r.file(firewallDir+"/cluster.fw", "cluster firewall"); b != nil {
		r.firewallFile(string(b), clusterScope, 0)
	}
	entries, err := fs.ReadDir(r.cluster, firewallDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.unread("guests' firewalls", err)
	}
	for _, e := range entries {
		vmid, ok := vmidOf(e.Name(), ".fw")
		// Files of guests that are gone stay behind.
		if !ok || sources[vmid] == "" {
			continue
		}
		if b := r.file(firewallDir+"/"+e.Name(), sources[vmid]+", firewall"); b != nil {
			r.firewallFile(string(b), sources[vmid], vmid)
		}
	}
}

// firewallFile reads the aliases and sets of one file; rules and options are not
// the inventory's.
func (r *reader) firewallFile(text, scope string, vmid int) {
	var set *inventory.IPSet
	aliases := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			r.addSet(set)
			set, aliases = setHead(line, scope, vmid), strings.EqualFold(line, "[aliases]")
			continue
		}
		body, comment, _ := strings.Cut(line, "#")
		body, comment = strings.TrimSpace(body), strings.TrimSpace(comment)
		switch {
		case set != nil:
			cidr, nomatch := strings.CutPrefix(body, "!")
			set.Members = append(set.Members, inventory.Member{CIDR: strings.TrimSpace(cidr), NoMatch: nomatch, Comment: comment})
		case aliases:
			r.alias(body, inventory.Alias{Scope: scope, VMID: vmid, Comment: comment})
		}
	}
	r.addSet(set)
}

func (r *reader) addSet(set *inventory.IPSet) {
	if set != nil {
		r.out.Sets = append(r.out.Sets, *set)
	}
}

// setHead reads "[IPSET name] # comment"; nil for the head of another section.
func setHead(line, scope string, vmid int) *inventory.IPSet {
	head, comment, _ := strings.Cut(line, "]")
	fields := strings.Fields(strings.TrimPrefix(head, "["))
	if len(fields) != 2 || !strings.EqualFold(fields[0], "ipset") {
		return nil
	}
	_, comment, _ = strings.Cut(comment, "#")
	return &inventory.IPSet{Scope: scope, VMID: vmid, Name: strings.ToLower(fields[1]), Comment: strings.TrimSpace(comment)}
}

// alias reads "name 10.0.0.1".
func (r *reader) alias(body string, a inventory.Alias) {
	fields := strings.Fields(body)
	if len(fields) != 2 {
		r.unread("alias in the firewall of "+a.Scope, fmt.Errorf("%s is not a name and an address", netplan.Quote(body)))
		return
	}
	a.Name = fields[0]
	if address, err := netip.ParseAddr(fields[1]); err == nil {
		a.CIDR = netip.PrefixFrom(address, address.BitLen())
	} else if a.CIDR, err = netip.ParsePrefix(fields[1]); err != nil {
		r.unread(fmt.Sprintf("alias %s in the firewall of %s", netplan.Quote(a.Name), a.Scope), fmt.Errorf("%s is no address", netplan.Quote(fields[1])))
		return
	}
	r.out.Aliases = append(r.out.Aliases, a)
}
