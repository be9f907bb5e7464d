package pvefs

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// Where Proxmox keeps its own IPAM: since 8.4 the first, before it the second.
const (
	ipamFile    = "sdn/pve-ipam-state.json"
	oldIPAMFile = "priv/ipam.db"
)

// ownIPAM is the type of the IPAM that stands in these files.
const ownIPAM = "pve"

// ipamState is the file: zone, subnet's CIDR, address.
type ipamState struct {
	Zones map[string]struct {
		Subnets map[string]struct {
			IPs map[string]ipamAddress `json:"ips"`
		} `json:"subnets"`
	} `json:"zones"`
}

// ipamAddress is one entry. Numbers and flags come as numbers or as strings.
type ipamAddress struct {
	VMID     any    `json:"vmid"`
	MAC      string `json:"mac"`
	Hostname string `json:"hostname"`
	Gateway  any    `json:"gateway"`
}

// ipam reads Proxmox's own IPAM. What a zone keeps in another program is unread.
func (r *reader) ipam(zones []section) {
	foreign := map[string]string{}
	for _, s := range r.sections(ipamsFile) {
		if s.kind != ownIPAM {
			foreign[s.name] = s.kind
		}
	}
	for _, zone := range zones {
		if kind := foreign[zone.get("ipam")]; kind != "" {
			r.unread(fmt.Sprintf("IPAM %s, zone %s", netplan.Quote(zone.get("ipam")), netplan.Quote(zone.name)),
				fmt.Sprintf("its entries are kept in %s, not on the Proxmox hosts", netplan.Quote(kind)))
		}
	}
	name := ipamFile
	b := r.file(ipamFile, "SDN IPAM")
	if b == nil {
		name = oldIPAMFile
		b = r.file(oldIPAMFile, "SDN IPAM")
	}
	if len(b) == 0 {
		return
	}
	var state ipamState
	if err := json.Unmarshal(b, &state); err != nil {
		r.unread("SDN IPAM, "+name, err)
		return
	}
	for _, zone := range slices.Sorted(maps.Keys(state.Zones)) {
		subnets := state.Zones[zone].Subnets
		for _, subnet := range slices.Sorted(maps.Keys(subnets)) {
			for _, address := range slices.Sorted(maps.Keys(subnets[subnet].IPs)) {
				r.ipamEntry(zone, subnet, address, subnets[subnet].IPs[address])
			}
		}
	}
}

func (r *reader) ipamEntry(zone, subnet, address string, e ipamAddress) {
	a, err := netip.ParseAddr(address)
	if err != nil {
		r.unread(fmt.Sprintf("SDN IPAM, zone %s", netplan.Quote(zone)), fmt.Errorf("%s is no address", netplan.Quote(address)))
		return
	}
	entry := inventory.IPAMEntry{
		Address: a, Zone: zone, Hostname: e.Hostname, Gateway: e.Gateway != nil && fmt.Sprint(e.Gateway) != "0",
		// As the subnet itself is named.
		Subnet: zone + "-" + strings.Replace(subnet, "/", "-", 1),
	}
	// Whose it is only helps to find it: an entry with a MAC or VMID that cannot be
	// read is taken all the same.
	entry.MAC, _ = netplan.ParseMAC(e.MAC)
	if len(texts(e.VMID)) == 1 {
		entry.VMID, _ = vmidOf(texts(e.VMID)[0], "")
	}
	r.out.IPAM = append(r.out.IPAM, entry)
}
