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

// rules are the aliases and sets of one file.
type rules struct {
	dir     fs.FS
	entry   fs.DirEntry
	scope   string
	vmid    int
	sets    []inventory.IPSet
	aliases []inventory.Alias
	bad     []inventory.Unread
}

// firewall reads aliases and sets, the cluster's and the guests'.
func (r *reader) firewall() {
	dir, err := list(r.cluster, firewallDir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		r.unread("cluster firewall, guests' firewalls", err)
		return
	}
	defer dir.close()
	sources := map[int]string{}
	for _, g := range r.out.Guests {
		sources[g.VMID] = g.Source()
	}
	var all []rules
	for _, e := range dir.entries {
		if e.Name() == "cluster.fw" {
			all = append(all, rules{dir: dir, entry: e, scope: clusterScope})
		}
		// Files of guests that are gone stay behind.
		if vmid, ok := vmidOf(e.Name(), ".fw"); ok && sources[vmid] != "" {
			all = append(all, rules{dir: dir, entry: e, scope: sources[vmid], vmid: vmid})
		}
	}
	each(all, (*rules).read)
	for _, f := range all {
		r.out.Sets = append(r.out.Sets, f.sets...)
		r.out.Aliases = append(r.out.Aliases, f.aliases...)
		r.out.Unread = append(r.out.Unread, f.bad...)
	}
}

func (f *rules) unread(source string, reason any) {
	f.bad = append(f.bad, inventory.Unread{Source: source, Reason: fmt.Sprint(reason)})
}

func (f *rules) read() {
	b, err := readKind(f.dir, f.entry.Name(), f.entry.Type(), maxFile)
	if err != nil {
		f.unread("firewall of "+f.scope, err)
		return
	}
	f.parse(string(b))
}

// parse reads the aliases and sets of a file; rules and options are not the
// inventory's.
func (f *rules) parse(text string) {
	inSet, inAliases := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			inAliases = strings.EqualFold(line, "[aliases]")
			var set inventory.IPSet
			if set, inSet = setHead(line); inSet {
				set.Scope, set.VMID = f.scope, f.vmid
				f.sets = append(f.sets, set)
			}
			continue
		}
		body, comment, _ := strings.Cut(line, "#")
		body, comment = strings.TrimSpace(body), strings.TrimSpace(comment)
		switch {
		case inSet:
			cidr, nomatch := strings.CutPrefix(body, "!")
			set := &f.sets[len(f.sets)-1]
			set.Members = append(set.Members, inventory.Member{CIDR: strings.TrimSpace(cidr), NoMatch: nomatch, Comment: comment})
		case inAliases:
			f.alias(body, comment)
		}
	}
}

// setHead reads "[IPSET name] # comment"; not ok for the head of another section.
func setHead(line string) (set inventory.IPSet, ok bool) {
	head, comment, _ := strings.Cut(line, "]")
	fields := strings.Fields(strings.TrimPrefix(head, "["))
	if len(fields) != 2 || !strings.EqualFold(fields[0], "ipset") {
		return set, false
	}
	_, comment, _ = strings.Cut(comment, "#")
	return inventory.IPSet{Name: strings.ToLower(fields[1]), Comment: strings.TrimSpace(comment)}, true
}

// alias reads "name 10.0.0.1".
func (f *rules) alias(body, comment string) {
	fields := strings.Fields(body)
	if len(fields) != 2 {
		f.unread("alias in the firewall of "+f.scope, netplan.Quote(body)+" is not a name and an address")
		return
	}
	a := inventory.Alias{Scope: f.scope, VMID: f.vmid, Name: fields[0], Comment: comment}
	if address, err := netip.ParseAddr(fields[1]); err == nil {
		a.CIDR = netip.PrefixFrom(address, address.BitLen())
	} else if a.CIDR, err = netip.ParsePrefix(fields[1]); err != nil {
		f.unread(fmt.Sprintf("alias %s in the firewall of %s", netplan.Quote(a.Name), f.scope), netplan.Quote(fields[1])+" is no address")
		return
	}
	f.aliases = append(f.aliases, a)
}
