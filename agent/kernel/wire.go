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
	found, err := findLink("interface", name)
	if err != nil {
		return nil, err
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

// ErrNoInterface is that a segment is looked for at a name that nothing has here.
var ErrNoInterface = errors.New("this host has none of that name")

// findLink finds an interface by its name; kind is for the error.
func findLink(kind, name string) (netlink.Link, error) {
	found, err := netlink.LinkByName(name)
	if errors.As(err, new(netlink.LinkNotFoundError)) {
		err = ErrNoInterface
	}
	if err != nil {
		return nil, fmt.Errorf("finding %s %s: %w", kind, netplan.Quote(name), err)
	}
	return found, nil
}

// packetOtherHost is the kernel's mark of a frame that is not for this interface
// (PACKET_OTHERHOST in include/uapi/linux/if_packet.h).
const packetOtherHost = 3

// arpFilter keeps what is not of this very segment from the socket, which is bound to
// ARP already. A bridge's own interface also gets the frames of VLANs that have no
// interface on it: the kernel takes their tag off and marks them as another host's
// (check_vlan_id in net/core/dev.c). And what is longer than any ARP frame is cut.
func arpFilter() ([]bpf.RawInstruction, error) {
	const most = 128
	return bpf.Assemble([]bpf.Instruction{
		bpf.LoadExtension{Num: bpf.ExtProto},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.ETH_P_ARP, SkipTrue: 3},
		bpf.LoadExtension{Num: bpf.ExtType},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: packetOtherHost, SkipTrue: 1},
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
