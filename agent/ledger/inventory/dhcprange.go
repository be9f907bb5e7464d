package inventory

import (
	"fmt"

	"homeward/netplan"
)

// ParseDHCPRange reads a range that SDN's DHCP hands out, "start-address=
// 10.0.0.50,end-address=10.0.0.99".
func ParseDHCPRange(s string) (netplan.Range, error) {
	options, err := ParseProperties(s)
	if err != nil {
		return netplan.Range{}, err
	}
	first, _ := options.Get("start-address")
	last, _ := options.Get("end-address")
	var r netplan.Range
	if r.First, err = netplan.ParseAddr(first); err != nil {
		return netplan.Range{}, fmt.Errorf("start-address %w", err)
	}
	if r.Last, err = netplan.ParseAddr(last); err != nil {
		return netplan.Range{}, fmt.Errorf("end-address %w", err)
	}
	if r.Last.Less(r.First) {
		return netplan.Range{}, fmt.Errorf("it ends at %s, before it starts at %s", r.Last, r.First)
	}
	return r, nil
}
