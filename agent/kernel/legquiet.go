//go:build linux

package kernel

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

const (
	// addrGenNone keeps a link from giving itself an IPv6 address
	// (IN6_ADDR_GEN_MODE_NONE in include/uapi/linux/if_link.h).
	addrGenNone = 1
	// devconfARPIgnore is arp_ignore's number among IPv4's settings of a link
	// (IPV4_DEVCONF_ARP_IGNORE in include/uapi/linux/ip.h); with 1 the kernel answers
	// only for addresses of that very link.
	devconfARPIgnore = 19
)

// keepQuiet keeps an interface of ours from telling the segment about this host:
// Linux would answer there for its addresses on every other interface, and announce
// an IPv6 address. An operator who later gives the interface an address finds it
// working. By netlink, since a hardened service cannot write to /proc/sys.
func keepQuiet(l netlink.Link) error {
	name := l.Attrs().Name
	request := nl.NewNetlinkRequest(unix.RTM_SETLINK, unix.NLM_F_ACK)
	header := nl.NewIfInfomsg(unix.AF_UNSPEC)
	header.Index = int32(l.Attrs().Index)
	request.AddData(header)
	families := nl.NewRtAttr(unix.IFLA_AF_SPEC, nil)
	ipv4 := families.AddRtAttr(unix.AF_INET, nil)
	ipv4.AddRtAttr(unix.IFLA_INET_CONF, nil).AddRtAttr(devconfARPIgnore, nl.Uint32Attr(1))
	request.AddData(families)
	if _, err := request.Execute(unix.NETLINK_ROUTE, 0); err != nil {
		return fmt.Errorf("keeping the kernel's ARP off %s: %w", name, err)
	}
	err := netlink.LinkSetIP6AddrGenMode(l, addrGenNone)
	// A host without IPv6 has no such mode, and no such address.
	if err != nil && !errors.Is(err, unix.EAFNOSUPPORT) && !errors.Is(err, unix.EOPNOTSUPP) {
		return fmt.Errorf("keeping IPv6 off %s: %w", name, err)
	}
	return nil
}
