//go:build linux

package netlab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Host is a network namespace without a name. It lives as long as its open
// descriptor: nothing of it is left when the process ends. Its methods may be
// called concurrently, but not after Close.
type Host struct {
	name string
	ns   *os.File
	nl   *netlink.Handle
}

// NewHost makes a network namespace with loopback up and nothing else in it.
// The name is for messages only. Outside the lab it is an error.
func NewHost(name string) (*Host, error) {
	if !Inside() {
		return nil, fmt.Errorf("making host %s: not inside the lab", name)
	}
	h := &Host{name: name}
	err := onOwnThread(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		if h.ns, err = os.Open("/proc/thread-self/ns/net"); err != nil {
			return err
		}
		h.nl, err = netlink.NewHandle(unix.NETLINK_ROUTE)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making host %s: %w", name, err), h.Close())
	}
	if err := h.SetUp("lo"); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// Name gives the name that the host was made with.
func (h *Host) Name() string { return h.name }

// FD gives the descriptor of the network namespace, for libraries that take one.
// It stays the host's: do not close it.
func (h *Host) FD() int { return int(h.ns.Fd()) }

// Netlink gives a handle whose requests act on this host. It stays the host's:
// do not close it.
func (h *Host) Netlink() *netlink.Handle { return h.nl }

// Close gives the namespace up. The kernel removes it, and the links in it, when
// the last process and socket in it are gone too.
func (h *Host) Close() error {
	if h.nl != nil {
		h.nl.Close()
	}
	if h.ns == nil {
		return nil
	}
	return h.ns.Close()
}

// Do runs f on an operating-system thread inside the host and gives its error.
// Sockets that f opens and files that it opens below /proc/sys/net belong to the
// host for ever; goroutines that f starts do not run inside the host.
func (h *Host) Do(f func() error) error {
	return onOwnThread(func() error {
		if err := netns.Set(netns.NsHandle(h.FD())); err != nil {
			return fmt.Errorf("entering host %s: %w", h.name, err)
		}
		return f()
	})
}

// SetSysctl writes a value below /proc/sys, for example
// "net/ipv4/conf/ext/rp_filter".
func (h *Host) SetSysctl(key, value string) error {
	return h.Do(func() error {
		if err := os.WriteFile(filepath.Join("/proc/sys", key), []byte(value), 0); err != nil {
			return fmt.Errorf("setting sysctl on %s: %w", h.name, err)
		}
		return nil
	})
}

// Sysctl reads a value below /proc/sys, without the line's end.
func (h *Host) Sysctl(key string) (value string, err error) {
	err = h.Do(func() error {
		text, err := os.ReadFile(filepath.Join("/proc/sys", key))
		value = strings.TrimSpace(string(text))
		return err
	})
	return value, err
}

// Listen is net.Listen inside the host. Give addresses as numbers: names would
// be looked up outside.
func (h *Host) Listen(network, address string) (l net.Listener, err error) {
	err = h.Do(func() (err error) {
		l, err = net.Listen(network, address)
		return err
	})
	return l, err
}

// ListenPacket is net.ListenPacket inside the host.
func (h *Host) ListenPacket(network, address string) (c net.PacketConn, err error) {
	err = h.Do(func() (err error) {
		c, err = net.ListenPacket(network, address)
		return err
	})
	return c, err
}

// Dial is net.Dialer.DialContext inside the host, by number.
func (h *Host) Dial(ctx context.Context, network, address string) (c net.Conn, err error) {
	err = h.Do(func() (err error) {
		var d net.Dialer
		c, err = d.DialContext(ctx, network, address)
		return err
	})
	return c, err
}
