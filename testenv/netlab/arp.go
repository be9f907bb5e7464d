//go:build linux

package netlab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// gratuitous tells every host of the external network where an address is now.
func (a *announcer) gratuitous(address netip.Addr) error {
	link, err := a.node.externalByMAC()
	if err != nil {
		return err
	}
	return a.node.Gratuitous(link.Attrs().Name, address)
}

// ProbeARP sends one RFC 5227 probe (sender 0.0.0.0) for an address out of the
// external NIC. What comes back is for a Capture to see.
func (n *Node) ProbeARP(address netip.Addr) error {
	link, err := n.externalByMAC()
	if err != nil {
		return err
	}
	frame := arpFrame(arpRequest, n.ExternalMAC, netip.IPv4Unspecified(), make(net.HardwareAddr, 6), address, broadcast())
	if err := n.sendARP(link.Attrs().Index, frame); err != nil {
		return fmt.Errorf("probing %s from %s: %w", address, n.name, err)
	}
	return nil
}

func (h *Host) sendARP(index int, frame []byte) error {
	socket, err := h.packetSocket(index, sendOnly)
	if err != nil {
		return err
	}
	return errors.Join(sendFrame(socket, index, frame), socket.Close())
}

func broadcast() net.HardwareAddr { return net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff} }

const (
	arpRequest = 1
	arpReply   = 2
)

// arpFrame builds an Ethernet frame with RFC 826's packet in it.
func arpFrame(operation uint16, sender net.HardwareAddr, senderIP netip.Addr, target net.HardwareAddr, targetIP netip.Addr, to net.HardwareAddr) []byte {
	frame := append(append([]byte{}, to...), sender...)
	frame = binary.BigEndian.AppendUint16(frame, unix.ETH_P_ARP)
	frame = append(frame, 0, 1, 8, 0, 6, 4)
	frame = binary.BigEndian.AppendUint16(frame, operation)
	frame = append(append(frame, sender...), senderIP.AsSlice()...)
	return append(append(frame, target...), targetIP.AsSlice()...)
}

func sendFrame(socket *os.File, index int, frame []byte) error {
	_, err := withFD(socket, func(fd int) (struct{}, error) {
		return struct{}{}, unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ARP), Ifindex: index, Halen: 6})
	})
	return err
}
