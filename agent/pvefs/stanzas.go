package pvefs

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// stanzas are the interfaces of files like /etc/network/interfaces:
//
//	auto vmbr0.30
//	iface vmbr0.30 inet static
//		address 203.0.113.2/25
//
// One interface may have several stanzas; their options come together.
type stanzas struct {
	order  []string
	ifaces map[string]*iface
	// sources are the patterns of files to read besides.
	sources []string
	current *iface
}

// iface is one interface: its options by name, with underscores for dashes, which
// both mean the same.
type iface struct {
	name    string
	auto    bool
	dhcp    bool
	options map[string][]string
}

func newStanzas() *stanzas { return &stanzas{ifaces: map[string]*iface{}} }

func (p *stanzas) iface(name string) *iface {
	i := p.ifaces[name]
	if i == nil {
		i = &iface{name: name, options: map[string][]string{}}
		p.ifaces[name] = i
		p.order = append(p.order, name)
	}
	return i
}

// parse reads one file.
func (p *stanzas) parse(text string) {
	p.current = nil
	// A backslash at its end continues a line.
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", " ")
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		p.line(fields)
	}
}

func (p *stanzas) line(fields []string) {
	switch word := fields[0]; {
	case word == "auto" || strings.HasPrefix(word, "allow-"):
		p.current = nil
		for _, name := range fields[1:] {
			p.iface(name).auto = true
		}
	case word == "iface":
		p.current = nil
		if len(fields) < 2 {
			return
		}
		p.current = p.iface(fields[1])
		if len(fields) > 3 && fields[2] == "inet" && fields[3] == "dhcp" {
			p.current.dhcp = true
		}
	case word == "source":
		p.current = nil
		p.sources = append(p.sources, fields[1:]...)
	case word == "source-directory":
		p.current = nil
		for _, dir := range fields[1:] {
			p.sources = append(p.sources, strings.TrimSuffix(dir, "/")+"/*")
		}
	case word == "mapping" || word == "rename" || word == "no-auto-down" || word == "no-scripts" || word == "vlan" || word == "template":
		p.current = nil
	case p.current != nil:
		key := strings.ReplaceAll(word, "-", "_")
		p.current.options[key] = append(p.current.options[key], strings.Join(fields[1:], " "))
	}
}

// interfaces gives what was read, in the files' order, and what of it could not
// be.
func (p *stanzas) interfaces() (out []inventory.Interface, bad []string) {
	for _, name := range p.order {
		i := p.ifaces[name]
		if name == "lo" {
			continue
		}
		x := inventory.Interface{Name: name, Type: i.kind(), Active: i.auto}
		x.MTU, _ = strconv.Atoi(i.get("mtu"))
		x.Ports = i.ports()
		x.VLANAware = i.get("bridge_vlan_aware") == "yes"
		x.VIDs = i.get("bridge_vids")
		x.VLANRaw, x.VLAN = i.vlan()
		var err error
		if x.Addresses, err = i.addresses(); err != nil {
			bad = append(bad, fmt.Sprintf("%s: %v", netplan.Quote(name), err))
		}
		if i.dhcp {
			bad = append(bad, fmt.Sprintf("%s asks a DHCP server for its address, so that it stands in no file", netplan.Quote(name)))
		}
		out = append(out, x)
	}
	return out, bad
}

// get gives an option's first value, empty without one.
func (i *iface) get(key string) string {
	if list := i.options[key]; len(list) > 0 {
		return list[0]
	}
	return ""
}

func (i *iface) kind() string {
	_, bridge := i.options["bridge_ports"]
	_, slaves := i.options["bond_slaves"]
	raw, tag := i.vlan()
	switch {
	case i.get("ovs_type") != "":
		return i.get("ovs_type")
	case bridge:
		return "bridge"
	case slaves:
		return "bond"
	case raw != "" && tag != 0:
		return "vlan"
	}
	return "eth"
}

// ports are a bridge's. An Open vSwitch's own VLAN interfaces are ports too, but
// say so themselves.
func (i *iface) ports() (out []string) {
	for _, key := range []string{"bridge_ports", "ovs_ports"} {
		if key == "ovs_ports" && i.get("ovs_type") != "OVSBridge" {
			continue
		}
		for _, line := range i.options[key] {
			for _, port := range strings.Fields(line) {
				if port != "none" {
					out = append(out, port)
				}
			}
		}
	}
	return out
}

// vlan gives the device and tag of a VLAN interface, from what is said or from a
// name like eno1.30 or vlan30.
func (i *iface) vlan() (raw string, tag netplan.VLAN) {
	text := i.get("vlan_id")
	if at := strings.LastIndexByte(i.name, '.'); at > 0 {
		raw = i.name[:at]
		if text == "" {
			text = i.name[at+1:]
		}
	}
	if digits, ok := strings.CutPrefix(i.name, "vlan"); ok && text == "" {
		text = strings.TrimLeft(digits, "0")
	}
	if device := i.get("vlan_raw_device"); device != "" {
		raw = device
	}
	if bridge := i.get("ovs_bridge"); bridge != "" && i.get("ovs_type") == "OVSIntPort" {
		raw = bridge
		for _, option := range strings.Fields(i.get("ovs_options")) {
			if value, ok := strings.CutPrefix(option, "tag="); ok {
				text = value
			}
		}
	}
	set, err := inventory.ParseVLANs(text)
	if err != nil || len(set) != 1 || set[0].First != set[0].Last || raw == "" {
		return "", 0
	}
	return raw, set[0].First
}

// addresses are those of IPv4, with the length of the prefix or a netmask beside.
func (i *iface) addresses() (out []netip.Prefix, err error) {
	for n, text := range i.options["address"] {
		if strings.Contains(text, ":") {
			continue
		}
		address, length, hasLength := strings.Cut(text, "/")
		if !hasLength && n < len(i.options["netmask"]) {
			length, hasLength = i.options["netmask"][n], true
		}
		if !hasLength {
			length = "32"
		}
		p, err := netip.ParsePrefix(address + "/" + length)
		if err != nil {
			p, err = maskedPrefix(address, length)
		}
		if err != nil {
			return out, err
		}
		out = append(out, p)
	}
	return out, nil
}

// maskedPrefix reads an address with a netmask like 255.255.255.0.
func maskedPrefix(address, mask string) (netip.Prefix, error) {
	a, errAddress := netip.ParseAddr(address)
	m, errMask := netip.ParseAddr(mask)
	if errAddress == nil && errMask == nil && a.Is4() && m.Is4() {
		bytes := m.As4()
		for bits := 0; bits <= 32; bits++ {
			if p, err := netip.AddrFrom4([4]byte{255, 255, 255, 255}).Prefix(bits); err == nil && p.Addr().As4() == bytes {
				return netip.PrefixFrom(a, bits), nil
			}
		}
	}
	return netip.Prefix{}, fmt.Errorf("address %s is no IPv4 address with its prefix length", netplan.Quote(address+"/"+mask))
}
