package proxmox

import (
	"fmt"
	"net/netip"
	"regexp"

	"homeward/netplan"
)

// Names as the server's schema takes them. What does not fit was given wrong, or
// comes from a server that is not Proxmox, and reaches no path.
var (
	nodeName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
	// Upper case vanishes from the firewall's file, so that a set is lower case.
	setName = regexp.MustCompile(`^[a-z][a-z0-9_-]{1,63}$`)
	sdnName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,6}[A-Za-z0-9]$`)
)

// The bounds of a guest's number.
const minVMID, maxVMID = 100, 999_999_999

func mustMatch(what, name string, pattern *regexp.Regexp) error {
	if !pattern.MatchString(name) {
		return fmt.Errorf("%s is no name of %s", netplan.Quote(name), what)
	}
	return nil
}

// mustBeAddress holds that one IPv4 address is meant, in the one spelling that the
// server keeps.
func mustBeAddress(a netip.Addr) error {
	if !a.Is4() || a.IsUnspecified() {
		return fmt.Errorf("%s is no IPv4 address of a host", a)
	}
	return nil
}
