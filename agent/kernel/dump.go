//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"
)

// dumpTries bounds how often a listing that the kernel interrupted is made again.
const dumpTries = 10

// dump makes a listing until it is whole. The kernel marks one during which
// something changed (NLM_F_DUMP_INTR); the library then returns what it has with
// ErrDumpInterrupted, and a part must never be taken for the whole: what seems to
// be missing would be added, what seems to be all of ours deleted.
func dump[T any](ctx context.Context, log *slog.Logger, what string, list func() ([]T, error)) ([]T, error) {
	var err error
	for try := range dumpTries {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var out []T
		if out, err = list(); err == nil {
			return out, nil
		}
		if !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
		log.Debug("a listing was interrupted by a change", "what", what, "try", try)
		time.Sleep(time.Duration(try) * time.Millisecond)
	}
	return nil, fmt.Errorf("listing %s: %w", what, err)
}

// prefixOf gives a network, 0.0.0.0/0 for nil.
func prefixOf(n *net.IPNet) netip.Prefix {
	if n == nil {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	bits, _ := n.Mask.Size()
	return netip.PrefixFrom(addrFromIP(n.IP), bits)
}

// ipNetOf gives a network for the library, nil for 0.0.0.0/0.
func ipNetOf(p netip.Prefix) *net.IPNet {
	if !p.IsValid() || p.Bits() == 0 {
		return nil
	}
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), 32)}
}

// addrFromIP gives an IPv4 address, the zero Addr for nil.
func addrFromIP(ip net.IP) netip.Addr {
	a, _ := netip.AddrFromSlice(ip)
	return a.Unmap()
}

// defaultNet is 0.0.0.0/0, for calls that take no nil.
func defaultNet() *net.IPNet {
	return &net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}
}
