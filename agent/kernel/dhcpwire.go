//go:build linux

package kernel

import (
	"fmt"
	"net"
	"time"

	"github.com/mdlayher/packet"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"homeward/netplan"
)

// DHCPWire is a packet socket on a wire's interface that hears what is sent to DHCP
// clients there, and nothing else: the host needs no address for it.
type DHCPWire struct {
	link netplan.Link
	conn *packet.Conn
}

// OpenDHCP opens a second socket beside the one for ARP.
func (w *Wire) OpenDHCP() (*DHCPWire, error) {
	filter, err := dhcpFilter()
	if err != nil {
		return nil, fmt.Errorf("assembling the DHCP filter: %w", err)
	}
	l := w.link
	conn, err := packet.Listen(&net.Interface{Index: l.Index, Name: l.Name, HardwareAddr: l.MAC[:]},
		packet.Datagram, unix.ETH_P_IP, &packet.Config{Filter: filter})
	if err != nil {
		return nil, fmt.Errorf("opening a packet socket on %s: %w", l.Name, err)
	}
	return &DHCPWire{link: l, conn: conn}, nil
}

// dhcpFilter keeps unfragmented UDP to port 68, without a VLAN tag (see arpFilter).
// The socket's packets begin with the IPv4 header.
func dhcpFilter() ([]bpf.RawInstruction, error) {
	const protocolAt, fragmentAt, destinationAt = 9, 6, 2
	const fragment, vlanID, clientPort, most = 0x1fff, 0x0fff, 68, 1500
	return bpf.Assemble([]bpf.Instruction{
		bpf.LoadExtension{Num: bpf.ExtVLANTagPresent},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 3},
		bpf.LoadExtension{Num: bpf.ExtVLANTag},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: vlanID},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 8},
		bpf.LoadAbsolute{Off: protocolAt, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.IPPROTO_UDP, SkipTrue: 6},
		bpf.LoadAbsolute{Off: fragmentAt, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: fragment, SkipTrue: 4},
		bpf.LoadMemShift{Off: 0},
		bpf.LoadIndirect{Off: destinationAt, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: clientPort, SkipTrue: 1},
		bpf.RetConstant{Val: most},
		bpf.RetConstant{Val: 0},
	})
}

// MAC is the interface's.
func (w *DHCPWire) MAC() netplan.MAC { return w.link.MAC }

// ReadPacket waits for an IPv4 packet until the deadline.
func (w *DHCPWire) ReadPacket(b []byte) (int, error) {
	n, _, err := w.conn.ReadFrom(b)
	if err != nil {
		return 0, fmt.Errorf("reading on %s: %w", w.link.Name, err)
	}
	return n, nil
}

// WritePacket sends an IPv4 packet to every host of the segment.
func (w *DHCPWire) WritePacket(p []byte) error {
	to := &packet.Addr{HardwareAddr: net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}
	if _, err := w.conn.WriteTo(p, to); err != nil {
		return fmt.Errorf("sending on %s: %w", w.link.Name, err)
	}
	return nil
}

// SetReadDeadline ends a read that lasts longer.
func (w *DHCPWire) SetReadDeadline(t time.Time) error { return w.conn.SetReadDeadline(t) }

// Close closes the socket.
func (w *DHCPWire) Close() error { return w.conn.Close() }
