package inventory

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"homeward/netplan"
)

// VLANSet is a set of tags as ranges, in the order they were given.
type VLANSet []VLANRange

// VLANRange is an inclusive range of tags, First not after Last.
type VLANRange struct {
	First, Last netplan.VLAN
}

// maxVLAN is the highest tag; 4095 is reserved.
const maxVLAN = 4094

// maxVLANRanges bounds a list of tags: more ranges than tags are nonsense.
const maxVLANRanges = maxVLAN

// ParseVLANs reads tags and ranges of tags, "10;20-30" as a NIC's trunks or
// "2 10-20" as a bridge's VIDs, separated by semicolons, commas or blanks.
func ParseVLANs(s string) (VLANSet, error) {
	fields := strings.FieldsFunc(s, func(r rune) bool { return r == ';' || r == ',' || r == ' ' || r == '\t' })
	if len(fields) > maxVLANRanges {
		return nil, fmt.Errorf("%d ranges are more than there are VLANs", len(fields))
	}
	set := make(VLANSet, 0, len(fields))
	for _, field := range fields {
		first, last, isRange := strings.Cut(field, "-")
		a, err := parseVLAN(first)
		if err != nil {
			return nil, err
		}
		b := a
		if isRange {
			if b, err = parseVLAN(last); err != nil {
				return nil, err
			}
		}
		if b < a {
			return nil, fmt.Errorf("%s ends before it starts", netplan.Quote(field))
		}
		set = append(set, VLANRange{a, b})
	}
	return set, nil
}

// parseVLAN reads a tag of 1 to 4094.
func parseVLAN(s string) (netplan.VLAN, error) {
	v, err := strconv.ParseUint(s, 10, 16)
	if err != nil || v < 1 || v > maxVLAN {
		return 0, fmt.Errorf("%s is not a VLAN: 1 to %d are", netplan.Quote(s), maxVLAN)
	}
	return netplan.VLAN(v), nil
}

// Contains says whether a tag is in the set.
func (s VLANSet) Contains(v netplan.VLAN) bool {
	return slices.ContainsFunc(s, func(r VLANRange) bool { return r.First <= v && v <= r.Last })
}
