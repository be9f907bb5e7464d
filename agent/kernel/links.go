//go:build linux

package kernel

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"

	"homeward/netplan"
)

// Links lists all links.
func (k *Kernel) Links(ctx context.Context) ([]netplan.Link, error) {
	listed, err := dump(ctx, k.log, "links", netlink.LinkList)
	if err != nil {
		return nil, err
	}
	out := make([]netplan.Link, len(listed))
	for i, l := range listed {
		out[i] = linkOf(l)
	}
	return out, nil
}

func linkOf(l netlink.Link) netplan.Link {
	a := l.Attrs()
	return netplan.Link{
		Index: a.Index, Name: a.Name, Alias: a.Alias,
		MAC: macOf(a.HardwareAddr), PermanentMAC: macOf(a.PermHWAddr),
		Stacked: a.MasterIndex != 0 || hasLower(l),
		Up:      a.Flags&net.FlagUp != 0,
	}
}

// hasLower says that a link stands on another one of this namespace. IFLA_LINK
// also names a veth's peer, and a parent in another namespace (then with its
// IFLA_LINK_NETNSID); neither is below it.
func hasLower(l netlink.Link) bool {
	a := l.Attrs()
	return l.Type() != "veth" && a.ParentIndex != 0 && a.ParentIndex != a.Index && a.NetNsID < 0
}

// macOf gives the zero MAC for an address that has not six bytes.
func macOf(hw net.HardwareAddr) netplan.MAC {
	if len(hw) != 6 {
		return netplan.MAC{}
	}
	return netplan.MAC(hw)
}

// SetLinkUp brings a link up, by its index.
func (k *Kernel) SetLinkUp(ctx context.Context, l netplan.Link) error {
	if err := errDone(ctx); err != nil {
		return err
	}
	link := &netlink.Device{LinkAttrs: netlink.LinkAttrs{Index: l.Index, Name: l.Name}}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("setting link %s up: %w", l.Name, err)
	}
	return nil
}

// Addresses lists a link's IPv4 addresses.
func (k *Kernel) Addresses(ctx context.Context, l netplan.Link) ([]netip.Addr, error) {
	link := &netlink.Device{LinkAttrs: netlink.LinkAttrs{Index: l.Index, Name: l.Name}}
	listed, err := dump(ctx, k.log, "addresses of "+l.Name, func() ([]netlink.Addr, error) {
		return netlink.AddrList(link, netlink.FAMILY_V4)
	})
	if err != nil {
		return nil, err
	}
	out := make([]netip.Addr, len(listed))
	for i, a := range listed {
		out[i] = addrFromIP(a.IP)
	}
	return out, nil
}

// ReversePath reads a link's effective values: the kernel takes the higher one
// of "all" and the link's own (IN_DEV_MAXCONF, IN_DEV_ORCONF). The error is
// fs.ErrNotExist when the link is gone.
func (k *Kernel) ReversePath(ctx context.Context, l netplan.Link) (netplan.ReversePath, error) {
	if err := errDone(ctx); err != nil {
		return netplan.ReversePath{}, err
	}
	filter, err := k.effective(l.Name, "rp_filter")
	if err != nil {
		return netplan.ReversePath{}, err
	}
	validMark, err := k.effective(l.Name, "src_valid_mark")
	if err != nil {
		return netplan.ReversePath{}, err
	}
	return netplan.ReversePath{RPFilter: filter, SrcValidMark: validMark}, nil
}

func (k *Kernel) effective(link, key string) (int, error) {
	most := 0
	for _, scope := range []string{"all", link} {
		if scope != filepath.Base(scope) {
			return 0, fmt.Errorf("reading %s of link %s: %w", key, netplan.Quote(link), fs.ErrInvalid)
		}
		b, err := os.ReadFile(filepath.Join(k.sysctls, "net/ipv4/conf", scope, key))
		if err != nil {
			return 0, err
		}
		v, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil {
			return 0, fmt.Errorf("reading %s of link %s: %w", key, link, err)
		}
		most = max(most, v)
	}
	return most, nil
}
