//go:build linux

package kernel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/mdlayher/packet"
	"golang.org/x/sys/unix"

	"homeward/netplan"
)

const (
	// askTries and askWait are how often a request is sent and how long each waits
	// for its answer.
	askTries = 3
	askWait  = 250 * time.Millisecond

	// arpLength is an ARP packet for IPv4 on Ethernet (RFC 826), in bytes.
	arpLength  = 28
	arpRequest = 1
	arpReply   = 2
)

// Prober asks by ARP on the wire.
type Prober struct{}

// Ask sends an ARP request for target from a link and gives the MAC of who
// answers, zero when nobody does within 0.75 s. With sender 0.0.0.0 it is a probe
// of RFC 5227: answered by gateways that ignore a sender outside their subnet,
// and learned by nobody. It needs NET_RAW.
func (Prober) Ask(ctx context.Context, l netplan.Link, sender, target netip.Addr) (mac netplan.MAC, err error) {
	conn, err := packet.Listen(&net.Interface{Index: l.Index, Name: l.Name, HardwareAddr: l.MAC[:]}, packet.Datagram, unix.ETH_P_ARP, nil)
	if err != nil {
		return netplan.MAC{}, fmt.Errorf("opening a packet socket on %s: %w", l.Name, err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()

	request := arpMessage(arpRequest, l.MAC, sender, netplan.MAC{}, target)
	everyone := &packet.Addr{HardwareAddr: net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}
	for range askTries {
		if ctx.Err() != nil {
			return netplan.MAC{}, ctx.Err()
		}
		if err := conn.SetReadDeadline(time.Now().Add(askWait)); err != nil {
			return netplan.MAC{}, fmt.Errorf("asking for %s on %s: %w", target, l.Name, err)
		}
		if _, err := conn.WriteTo(request, everyone); err != nil {
			return netplan.MAC{}, fmt.Errorf("asking for %s on %s: %w", target, l.Name, err)
		}
		mac, err := awaitReply(conn, l.MAC, sender, target)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return mac, err
		}
	}
	return netplan.MAC{}, ctx.Err()
}

// awaitReply reads until someone answers exactly this request.
func awaitReply(conn *packet.Conn, ours netplan.MAC, sender, target netip.Addr) (netplan.MAC, error) {
	buffer := make([]byte, 128)
	for {
		n, _, err := conn.ReadFrom(buffer)
		if err != nil {
			return netplan.MAC{}, fmt.Errorf("waiting for %s: %w", target, err)
		}
		if mac, ok := replyFrom(buffer[:n], ours, sender, target); ok {
			return mac, nil
		}
	}
}

// arpMessage makes an ARP packet without its Ethernet header.
func arpMessage(operation uint16, fromMAC netplan.MAC, from netip.Addr, toMAC netplan.MAC, to netip.Addr) []byte {
	const ethernet = 1
	b := make([]byte, 0, arpLength)
	b = binary.BigEndian.AppendUint16(b, ethernet)
	b = binary.BigEndian.AppendUint16(b, unix.ETH_P_IP)
	b = append(b, 6, 4)
	b = binary.BigEndian.AppendUint16(b, operation)
	b = append(append(b, fromMAC[:]...), from.AsSlice()...)
	return append(append(b, toMAC[:]...), to.AsSlice()...)
}

// replyFrom reads an answer to a request that ours sent as sender, for target.
// The target address of the answer tells an answer to a probe from one to a plain
// request.
func replyFrom(b []byte, ours netplan.MAC, sender, target netip.Addr) (netplan.MAC, bool) {
	if len(b) < arpLength {
		return netplan.MAC{}, false
	}
	mac := netplan.MAC(b[8:14])
	if string(b[:arpLength]) != string(arpMessage(arpReply, mac, target, ours, sender)) || mac.IsZero() || mac.IsMulticast() {
		return netplan.MAC{}, false
	}
	return mac, true
}
