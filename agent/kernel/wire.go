//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/mdlayher/packet"
	"github.com/vishvananda/netlink"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"homeward/netplan"
)

// Wire is a packet socket on one interface that hears ARP and nothing else, and
// sends. It is for one goroutine; Close may be called by another.
type Wire struct {
	link  netplan.Link
	local []netip.Addr
	conn  *packet.Conn
	raw   syscall.RawConn
}

// OpenWire opens an interface by its name. It must be Ethernet, up and with a
// carrier; it needs no address. With NET_RAW it works in any network namespace.
func (k *Kernel) OpenWire(ctx context.Context, name string) (*Wire, error) {
	found, err := netlink.LinkByName(name)
	if err != nil {
		return nil, fmt.Errorf("finding interface %s: %w", netplan.Quote(name), err)
	}
	l := linkOf(found)
	switch a := found.Attrs(); {
	case a.EncapType != "ether" || l.MAC.IsZero():
		return nil, fmt.Errorf("interface %s carries no ARP: it is of kind %s", name, a.EncapType)
	case !l.Up:
		return nil, fmt.Errorf("interface %s is down: ip link set %s up", name, name)
	case a.RawFlags&unix.IFF_LOWER_UP == 0:
		return nil, fmt.Errorf("interface %s has no carrier: no cable, or no port of the bridge is up", name)
	}
	local, err := k.localAddresses(ctx)
	if err != nil {
		return nil, err
	}
	filter, err := arpFilter()
	if err != nil {
		return nil, fmt.Errorf("assembling the ARP filter: %w", err)
	}
	conn, err := packet.Listen(&net.Interface{Index: l.Index, Name: l.Name, HardwareAddr: l.MAC[:]},
		packet.Raw, unix.ETH_P_ARP, &packet.Config{Filter: filter})
	if err != nil {
		return nil, fmt.Errorf("opening a packet socket on %s: %w", name, err)
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &Wire{link: l, local: local, conn: conn, raw: raw}, nil
}

// arpFilter keeps what is not of this very segment from the socket. The socket is
// bound to ARP already. A bridge's own interface also gets the frames of VLANs that
// have no interface on it, with the tag beside the frame (skb_vlan_untag,
// deliver_exact): only those without a tag, or with the priority tag of VLAN 0,
// belong to the interface. Whether there is a tag must be asked first: up to 6.1 a
// VLAN interface takes the tag off a frame and leaves its number. And what is longer
// than any ARP frame is cut.
func arpFilter() ([]bpf.RawInstruction, error) {
	const vlanID, most = 0x0fff, 128
	return bpf.Assemble([]bpf.Instruction{
		bpf.LoadExtension{Num: bpf.ExtProto},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.ETH_P_ARP, SkipTrue: 6},
		bpf.LoadExtension{Num: bpf.ExtVLANTagPresent},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 3},
		bpf.LoadExtension{Num: bpf.ExtVLANTag},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: vlanID},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 1},
		bpf.RetConstant{Val: most},
		bpf.RetConstant{Val: 0},
	})
}

// localAddresses are the IPv4 addresses of all interfaces.
func (k *Kernel) localAddresses(ctx context.Context) ([]netip.Addr, error) {
	listed, err := dump(ctx, k.log, "this host's addresses", func() ([]netlink.Addr, error) {
		return netlink.AddrList(nil, netlink.FAMILY_V4)
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

// Link is the interface.
func (w *Wire) Link() netplan.Link { return w.link }

// MAC is the interface's.
func (w *Wire) MAC() netplan.MAC { return w.link.MAC }

// Local are this host's own IPv4 addresses when the wire was opened, those of
// every interface.
func (w *Wire) Local() []netip.Addr { return w.local }

// ReadFrame waits for a frame. It allocates nothing, which a flood of 100,000
// frames a second would make felt.
func (w *Wire) ReadFrame(b []byte) (n int, err error) {
	readErr := w.raw.Read(func(fd uintptr) bool {
		for {
			if n, err = unix.Read(int(fd), b); !errors.Is(err, unix.EINTR) {
				return !errors.Is(err, unix.EAGAIN)
			}
		}
	})
	if err := errors.Join(readErr, err); err != nil {
		return 0, fmt.Errorf("reading on %s: %w", w.link.Name, err)
	}
	return n, nil
}

// WriteFrame sends an ARP frame.
func (w *Wire) WriteFrame(frame []byte) error {
	to := &packet.Addr{HardwareAddr: net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}
	_, err := w.conn.WriteTo(frame, to)
	if errors.Is(err, unix.ENOBUFS) {
		// The interface's queue is full for the moment; what is asked is asked again.
		return nil
	}
	if err != nil {
		return fmt.Errorf("sending on %s: %w", w.link.Name, err)
	}
	return nil
}

// SetReadDeadline ends a read that lasts longer.
func (w *Wire) SetReadDeadline(t time.Time) error { return w.conn.SetReadDeadline(t) }

// Lost is how many frames the kernel has thrown away since the call before,
// because they came faster than they were read.
func (w *Wire) Lost() (uint64, error) {
	s, err := w.conn.Stats()
	if err != nil {
		return 0, fmt.Errorf("counting lost frames on %s: %w", w.link.Name, err)
	}
	return uint64(s.Drops), nil
}

// Close closes the socket; a read that waits ends.
func (w *Wire) Close() error { return w.conn.Close() }
