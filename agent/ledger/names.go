package ledger

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"homeward/netplan"
)

// The bounds of a firewall set's name in Proxmox, in characters.
const minName, maxName = 2, 64

// maxVLAN is the highest VLAN id; 0 stands for untagged.
const maxVLAN = 4094

const (
	namePrefix = "hw-"
	vnetPrefix = namePrefix + "vnet-"
)

var (
	// bridgeLike takes what the kernel takes for a bridge, short of what could
	// not stand in a path.
	bridgeLike = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)
	vnetLike   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,15}$`)
	setName    = regexp.MustCompile(`^hw-[a-z0-9-]+$`)
)

// SetName is the name of a segment's record, the same for a firewall set and for
// the outer resource pool: hw-vmbr0-1691, or hw-vnet-web for a VNet that is not a
// VLAN of a bridge. A VNet of a vlan zone has to be resolved to its bridge and tag
// before. Upper case becomes lower, because Proxmox lets a set with capitals
// vanish, and every other character than a-z0-9 becomes a dash, so that two
// bridges can get one name: see CheckNames.
func SetName(s netplan.Segment) (string, error) {
	if s.VLAN > maxVLAN {
		return "", fmt.Errorf("naming the record of %s: a VLAN is 1 to %d, or 0 for untagged", s, maxVLAN)
	}
	var name string
	switch {
	case s.Bridge != "" && s.VNet != "", s.Bridge == "" && s.VNet == "":
		return "", fmt.Errorf("naming the record of a segment: it has bridge %q and VNet %q, one of the two is right", s.Bridge, s.VNet)
	case s.VNet != "":
		if !vnetLike.MatchString(s.VNet) {
			return "", fmt.Errorf("naming the record of a segment: VNet %q: letters and digits are right", s.VNet)
		}
		name = vnetPrefix + mapped(s.VNet)
		if s.VLAN != 0 {
			name += "-" + strconv.Itoa(int(s.VLAN))
		}
	default:
		if !bridgeLike.MatchString(s.Bridge) {
			return "", fmt.Errorf("naming the record of a segment: bridge %q: letters, digits, dots, dashes and underscores are right", s.Bridge)
		}
		name = namePrefix + mapped(s.Bridge) + "-" + strconv.Itoa(int(s.VLAN))
	}
	if len(name) < minName || len(name) > maxName {
		return "", fmt.Errorf("naming the record of %s: %q has %d characters, more than %d", s, name, len(name), maxName)
	}
	return name, nil
}

// mapped is name with every character that a set's name cannot have as a dash.
func mapped(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return c
		}
		return '-'
	}, name)
}

// CheckNames refuses a segment whose record another segment of the same Proxmox
// cluster would share: all are the segments that can be there, in any order and
// with repetitions.
func CheckNames(s netplan.Segment, all []netplan.Segment) error {
	name, err := SetName(s)
	if err != nil {
		return err
	}
	for _, other := range all {
		if other == s {
			continue
		}
		if n, err := SetName(other); err == nil && n == name {
			return fmt.Errorf("%s and %s would share the record %s: rename one of the two", s, other, name)
		}
	}
	return nil
}

// SegmentOf reads a record's name. The bridge is as the name has it, lower case
// and with dashes, so it is not always the bridge's own name. Not ok for names
// that SetName does not give.
func SegmentOf(name string) (s netplan.Segment, ok bool) {
	if len(name) > maxName || !setName.MatchString(name) {
		return netplan.Segment{}, false
	}
	base, tag, tagged := cutLast(strings.TrimPrefix(name, namePrefix), "-")
	id, err := strconv.ParseUint(tag, 10, 16)
	tagged = tagged && err == nil && id <= maxVLAN && strconv.FormatUint(id, 10) == tag
	if tagged {
		s.VLAN = netplan.VLAN(id)
	}
	// A VNet's name has no dash and begins with a letter, a bridge's record ends
	// with a tag.
	vnet, isVNet := strings.CutPrefix(name, vnetPrefix)
	if isVNet && tagged {
		vnet = strings.TrimSuffix(vnet, "-"+tag)
	}
	switch {
	case isVNet && vnetLike.MatchString(vnet):
		s.VNet = vnet
	case tagged && bridgeLike.MatchString(base):
		s.Bridge = base
	default:
		return netplan.Segment{}, false
	}
	again, err := SetName(s)
	return s, err == nil && again == name
}

// AddressPool is the nested resource pool that claims one address where a token
// may not write the firewall: hw-vmbr0-1691/203.0.113.75. Making it is exclusive,
// and its comment is the record.
func AddressPool(name string, address netip.Addr) string {
	return name + "/" + address.String()
}

// ParseAddressPool is AddressPool's reverse; not ok for other pools.
func ParseAddressPool(id string) (name string, address netip.Addr, ok bool) {
	name, text, ok := strings.Cut(id, "/")
	if !ok {
		return "", netip.Addr{}, false
	}
	if _, ok := SegmentOf(name); !ok {
		return "", netip.Addr{}, false
	}
	address, err := netip.ParseAddr(text)
	if err != nil || !address.Is4() || address.String() != text {
		return "", netip.Addr{}, false
	}
	return name, address, true
}

// SameSegment says whether two names, of sets or of pools, are of one segment's
// record. Names that are no record's are of none.
func SameSegment(a, b string) bool {
	recordOf := func(id string) string {
		if name, _, ok := ParseAddressPool(id); ok {
			return name
		}
		return id
	}
	a, b = recordOf(a), recordOf(b)
	_, ok := SegmentOf(a)
	return ok && a == b
}

// cutLast cuts s at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
