package probe

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// The kernel's tables as text. Reading them needs no rights and no library; they
// know IPv4 only, and of the routes only table main.
const (
	routeFile = "/proc/net/route"
	arpFile   = "/proc/net/arp"
)

// link is a connected route: hosts in the prefix are on the interface's segment.
// A route with a gateway has OnLink false.
type link struct {
	prefix netip.Prefix
	onLink bool
	name   string
}

// parseRoutes reads /proc/net/route; lines that it does not understand are left
// out.
func parseRoutes(text string) []link {
	const (
		columns = 8
		up      = 0x1
		gateway = 0x2
		reject  = 0x200
	)
	var links []link
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < columns {
			continue
		}
		destination, err1 := strconv.ParseUint(f[1], 16, 32)
		flags, err2 := strconv.ParseUint(f[3], 16, 32)
		mask, err3 := strconv.ParseUint(f[7], 16, 32)
		if err1 != nil || err2 != nil || err3 != nil || flags&up == 0 {
			continue
		}
		ones, bits := net.IPMask(nativeBytes(uint32(mask))).Size()
		if bits == 0 {
			continue
		}
		address, _ := netip.AddrFromSlice(nativeBytes(uint32(destination)))
		links = append(links, link{
			prefix: netip.PrefixFrom(address, ones).Masked(),
			onLink: flags&(gateway|reject) == 0,
			name:   f[0],
		})
	}
	return links
}

// nativeBytes gives the bytes of a number that the kernel printed as it lies in
// memory.
func nativeBytes(n uint32) []byte { return binary.NativeEndian.AppendUint32(nil, n) }

// segmentOf gives the interface on whose segment an address is, by the longest
// prefix; empty when it is behind a gateway or has no route.
func segmentOf(links []link, a netip.Addr) string {
	var best link
	for _, l := range links {
		if l.prefix.Contains(a) && (!best.prefix.IsValid() || l.prefix.Bits() > best.prefix.Bits()) {
			best = l
		}
	}
	if !best.onLink {
		return ""
	}
	return best.name
}

// station is who answers for an address on an interface.
type station struct {
	address netip.Addr
	link    string
}

// parseARP reads /proc/net/arp: the MAC of every complete entry. Lines that it
// does not understand are left out.
func parseARP(text string) map[station]string {
	const (
		columns  = 6
		complete = 0x2
	)
	macs := map[station]string{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != columns {
			continue
		}
		address, err1 := netip.ParseAddr(f[0])
		flags, err2 := strconv.ParseUint(f[2], 0, 32)
		mac, err3 := net.ParseMAC(f[3])
		if err1 != nil || err2 != nil || err3 != nil || flags&complete == 0 {
			continue
		}
		macs[station{address, f[5]}] = mac.String()
	}
	return macs
}
