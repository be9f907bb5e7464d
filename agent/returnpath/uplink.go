package returnpath

import (
	"errors"
	"fmt"
	"strings"

	"homeward/netplan"
)

// ErrNoUplink says that no link has the external MAC.
var ErrNoUplink = errors.New("external NIC not found")

// ErrAmbiguousUplink says that several links have it, and none is chosen.
var ErrAmbiguousUplink = errors.New("external NIC is ambiguous")

// FindUplink finds the external link: by its permanent MAC, which no bond,
// bridge or VLAN on top of it shares. Only where no link has it as its permanent
// one (veth, tap have none) it is a link without one and with that current MAC,
// unless it has a master or a lower link, because such links copy each other's
// addresses.
//
// Two of the same kind are refused. One with the permanent MAC wins over any number
// with the current one, because a bridge takes the MAC of its first port: with the
// external NIC in a bridge both have it, and the bridge has neither a master nor a
// lower link that would tell. To refuse the two would cut a node off for a set-up
// that is right, and only the NIC has that MAC from the hypervisor.
func FindUplink(links []netplan.Link, mac netplan.MAC) (netplan.Link, error) {
	var permanent, current []netplan.Link
	for _, l := range links {
		switch {
		case l.PermanentMAC == mac:
			permanent = append(permanent, l)
		case l.PermanentMAC.IsZero() && !l.Stacked && l.MAC == mac:
			current = append(current, l)
		}
	}
	found := permanent
	if len(found) == 0 {
		found = current
	}
	switch len(found) {
	case 0:
		return netplan.Link{}, fmt.Errorf("%w: no link has MAC %s", ErrNoUplink, mac)
	case 1:
		return found[0], nil
	}
	names := make([]string, len(found))
	for i, l := range found {
		names[i] = l.Name
	}
	return netplan.Link{}, fmt.Errorf("%w: %s all have MAC %s", ErrAmbiguousUplink, strings.Join(names, ", "), mac)
}
