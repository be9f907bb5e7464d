//go:build linux

package kernel

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink"

	"homeward/netplan"
)

// What we made is marked in the kernel itself, on the VLAN interface's alias: it is
// gone when that is, and a killed agent cannot leave a file that lies. An alias of
// somebody else's stays in front of the mark.
//
//	homeward-agent:link       the interface is ours
//	homeward-agent:vid        the interface is not, the bridge's membership is
//	homeward-agent:link,vid   both
//
// The mark is set before what it speaks of is done and taken off after it is
// undone. An interface cannot be born with an alias, so it is born with a name that
// nobody else gives: bornAs and its number.
const (
	markPrefix = "homeward-agent:"
	bornAs     = "hw-new."
)

// mark is what of a leg is ours.
type mark struct{ link, vid bool }

func (m mark) String() string {
	switch {
	case m.link && m.vid:
		return markPrefix + "link,vid"
	case m.link:
		return markPrefix + "link"
	case m.vid:
		return markPrefix + "vid"
	}
	return ""
}

// markOf reads an interface's mark.
func markOf(l netlink.Link) mark {
	_, m := cutMark(l.Attrs().Alias)
	m.link = m.link || strings.HasPrefix(l.Attrs().Name, bornAs)
	return m
}

// cutMark parts an alias into what is somebody else's and our mark.
func cutMark(alias string) (rest string, m mark) {
	for _, candidate := range []mark{{true, true}, {true, false}, {false, true}} {
		if before, ok := strings.CutSuffix(alias, candidate.String()); ok {
			return strings.TrimSuffix(before, " "), candidate
		}
	}
	return alias, mark{}
}

// setMark writes a mark behind what an alias has besides.
func setMark(l netlink.Link, m mark) error {
	rest, had := cutMark(l.Attrs().Alias)
	if had == m {
		return nil
	}
	alias := strings.TrimSpace(rest + " " + m.String())
	if err := netlink.LinkSetAlias(l, alias); err != nil {
		return fmt.Errorf("marking interface %s as %s: %w", l.Attrs().Name, netplan.Quote(alias), err)
	}
	l.Attrs().Alias = alias
	return nil
}

// claimLeg takes the right to make and remove a leg's parts; nil when another agent
// has it. It is a socket without a file, of this network namespace, which goes with
// the process however that ends.
func claimLeg(c LegConfig) (net.Listener, error) {
	l, err := net.Listen("unix", fmt.Sprintf("@homeward-agent/leg/%s.%d", c.Bridge, c.VLAN))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("claiming VLAN %d on bridge %s: %w", c.VLAN, c.Bridge, err)
	}
	return l, nil
}
