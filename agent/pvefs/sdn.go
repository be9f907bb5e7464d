package pvefs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// The files of SDN. The .cfg are what was last edited, the running one what was
// last applied.
const (
	zonesFile   = "sdn/zones.cfg"
	vnetsFile   = "sdn/vnets.cfg"
	subnetsFile = "sdn/subnets.cfg"
	ipamsFile   = "sdn/ipams.cfg"
	runningFile = "sdn/.running-config"
)

// sdn reads zones, VNets and subnets: what is applied, and as pending what was
// edited since. What was deleted and not applied is still there.
func (r *reader) sdn() {
	running := r.runningSDN()
	var zones []section
	for _, x := range []struct {
		file, what string
		// keys are the properties that matter here: others differ in form between
		// the two files.
		keys []string
		read func(s section, pending bool)
	}{
		{zonesFile, "zones", []string{"bridge", "dhcp", "ipam"}, func(s section, pending bool) { zones = append(zones, s); r.zone(s, pending) }},
		{vnetsFile, "vnets", []string{"zone", "tag", "alias"}, r.vnet},
		{subnetsFile, "subnets", []string{"vnet", "gateway", "dhcp-range"}, r.subnet},
	} {
		edited := r.sections(x.file)
		for _, s := range running[x.what] {
			x.read(s, false)
		}
		for _, s := range edited {
			if !slices.ContainsFunc(running[x.what], func(o section) bool { return s.same(o, x.keys) }) {
				x.read(s, true)
			}
		}
	}
	r.ipam(zones)
}

// sections reads a file of sections; what it cannot read is unread.
func (r *reader) sections(file string) []section {
	b := r.file(file, "SDN, "+file)
	list, err := parseSections(string(b))
	if err != nil {
		r.unread("SDN, "+file, err)
	}
	return list
}

// runningSDN reads what was last applied, as the sections it was made from, sorted
// by name.
func (r *reader) runningSDN() map[string][]section {
	b := r.file(runningFile, "SDN, "+runningFile)
	if len(b) == 0 {
		return nil // never applied
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		r.unread("SDN, "+runningFile, err)
		return nil
	}
	out := map[string][]section{}
	for _, what := range []string{"zones", "vnets", "subnets"} {
		if len(all[what]) == 0 {
			continue
		}
		var list struct {
			IDs map[string]map[string]any `json:"ids"`
		}
		if err := json.Unmarshal(all[what], &list); err != nil {
			r.unread("SDN, "+runningFile, err)
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(list.IDs)) {
			s := section{name: name, values: map[string][]string{}}
			for key, value := range list.IDs[name] {
				if key == "type" {
					s.kind = fmt.Sprint(value)
					continue
				}
				s.values[key] = texts(value)
			}
			out[what] = append(out[what], s)
		}
	}
	return out
}

// texts gives a JSON value as the lines it would be in a file of sections.
func texts(value any) []string {
	switch v := value.(type) {
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, texts(x)...)
		}
		return out
	case float64:
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}
	}
	return []string{fmt.Sprint(value)}
}

// zone takes the applied form of a zone where there are two: a Snapshot has one.
func (r *reader) zone(s section, pending bool) {
	if pending && slices.ContainsFunc(r.out.Zones, func(z inventory.Zone) bool { return z.Name == s.name }) {
		return
	}
	r.out.Zones = append(r.out.Zones, inventory.Zone{Name: s.name, Type: s.kind, Bridge: s.get("bridge"), DHCP: s.get("dhcp"), IPAM: s.get("ipam")})
}

func (r *reader) vnet(s section, pending bool) {
	tag := 0
	if text := s.get("tag"); text != "" {
		var err error
		if tag, err = strconv.Atoi(text); err != nil || tag < 0 {
			r.unread("VNet "+netplan.Quote(s.name), fmt.Errorf("its tag %s is no number", netplan.Quote(text)))
			return
		}
	}
	r.out.VNets = append(r.out.VNets, inventory.VNet{Name: s.name, Zone: s.get("zone"), Tag: tag, Alias: s.get("alias"), Pending: pending})
}

// subnet reads a network of a VNet, named zone-10.0.0.0-24. IPv6 is not read.
func (r *reader) subnet(s section, pending bool) {
	source := "SDN subnet " + netplan.Quote(s.name)
	zone, cidr, err := inventory.ParseSubnetID(s.name)
	if err != nil {
		r.unread(source, err)
		return
	}
	if !cidr.Addr().Is4() {
		return
	}
	out := inventory.Subnet{ID: s.name, VNet: s.get("vnet"), Zone: zone, CIDR: cidr, Pending: pending}
	if text := s.get("gateway"); text != "" {
		if out.Gateway, err = netplan.ParseAddr(text); err != nil {
			r.unread(source+", gateway", err)
		}
	}
	for _, text := range s.values["dhcp-range"] {
		span, err := inventory.ParseDHCPRange(text)
		if err != nil {
			r.unread(source+", dhcp-range", err)
			continue
		}
		out.DHCP = append(out.DHCP, span)
	}
	r.out.Subnets = append(r.out.Subnets, out)
}
