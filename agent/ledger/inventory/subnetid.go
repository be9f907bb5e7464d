package inventory

import (
	"errors"
	"net/netip"
	"regexp"
)

// subnetName is a subnet's name as SDN makes it: the zone, the network's address, and
// the length of its prefix.
var subnetName = regexp.MustCompile(`^(.*)-([^-]*)-([^-]*)$`)

// ParseSubnetID takes a subnet's name apart: zone-10.0.0.0-24.
func ParseSubnetID(id string) (zone string, cidr netip.Prefix, err error) {
	bad := errors.New("its name is not like zone-10.0.0.0-24")
	parts := subnetName.FindStringSubmatch(id)
	if parts == nil {
		return "", netip.Prefix{}, bad
	}
	if cidr, err = netip.ParsePrefix(parts[2] + "/" + parts[3]); err != nil {
		return "", netip.Prefix{}, bad
	}
	return parts[1], cidr, nil
}
