//go:build linux

package netlab

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Protocol is what a packet carries, as far as the lab tells it apart.
type Protocol string

// The protocols. Anything else is ProtocolOther.
const (
	TCP           Protocol = "tcp"
	UDP           Protocol = "udp"
	ICMP          Protocol = "icmp"
	ARP           Protocol = "arp"
	ProtocolOther Protocol = "other"
)

// Packet is the summary of one Ethernet frame.
type Packet struct {
	// Link is where it was seen, by the name the link had when the capture began.
	Link string
	// Leaving says that the host sent it, not that it arrived.
	Leaving bool

	SourceMAC, DestinationMAC net.HardwareAddr
	Protocol                  Protocol
	// Source and Destination are the IPv4 addresses; of an ARP packet the
	// sender's and the target's.
	Source, Destination netip.Addr
	// SourcePort and DestinationPort are zero but for TCP and UDP, and in
	// fragments after the first.
	SourcePort, DestinationPort uint16
	// SYN, ACK, FIN and RST are the TCP flags.
	SYN, ACK, FIN, RST bool
	// ICMPType and ICMPCode are 0 but for ICMP.
	ICMPType, ICMPCode uint8
	// ARPReply tells a reply from a request; SenderMAC is what the sender claims.
	ARPReply  bool
	SenderMAC net.HardwareAddr
	// Length of the frame in bytes.
	Length int
}

// String is one line in the manner of tcpdump.
func (p Packet) String() string {
	direction := "in"
	if p.Leaving {
		direction = "out"
	}
	s := fmt.Sprintf("%s %s %s %s > %s", p.Link, direction, p.Protocol,
		endpoint(p.Source, p.SourcePort), endpoint(p.Destination, p.DestinationPort))
	flags := ""
	for _, f := range []struct {
		set  bool
		name string
	}{{p.SYN, "S"}, {p.ACK, "A"}, {p.FIN, "F"}, {p.RST, "R"}} {
		if f.set {
			flags += f.name
		}
	}
	if flags != "" {
		s += " [" + flags + "]"
	}
	if p.Protocol == ICMP {
		s += fmt.Sprintf(" type %d code %d", p.ICMPType, p.ICMPCode)
	}
	return s
}

func endpoint(a netip.Addr, port uint16) string {
	if port == 0 {
		return a.String()
	}
	return netip.AddrPortFrom(a, port).String()
}

const (
	ethernetHeader = 14
	arpLength      = 28
	ipv4Header     = 20
)

// decode reads a frame as far as it is whole and known; the rest stays zero.
func decode(frame []byte) Packet {
	p := Packet{Protocol: ProtocolOther, Length: len(frame)}
	if len(frame) < ethernetHeader {
		return p
	}
	p.DestinationMAC = net.HardwareAddr(append([]byte(nil), frame[0:6]...))
	p.SourceMAC = net.HardwareAddr(append([]byte(nil), frame[6:12]...))
	payload := frame[ethernetHeader:]
	switch binary.BigEndian.Uint16(frame[12:]) {
	case unix.ETH_P_ARP:
		p.decodeARP(payload)
	case unix.ETH_P_IP:
		p.decodeIPv4(payload)
	}
	return p
}

// decodeARP reads RFC 826 for Ethernet and IPv4.
func (p *Packet) decodeARP(b []byte) {
	if len(b) < arpLength || binary.BigEndian.Uint16(b[2:]) != unix.ETH_P_IP || b[4] != 6 || b[5] != 4 {
		return
	}
	p.Protocol = ARP
	p.ARPReply = binary.BigEndian.Uint16(b[6:]) == 2
	p.SenderMAC = net.HardwareAddr(append([]byte(nil), b[8:14]...))
	p.Source = netip.AddrFrom4([4]byte(b[14:18]))
	p.Destination = netip.AddrFrom4([4]byte(b[24:28]))
}

// decodeIPv4 reads RFC 791 and what it carries.
func (p *Packet) decodeIPv4(b []byte) {
	if len(b) < ipv4Header || b[0]>>4 != 4 {
		return
	}
	p.Source = netip.AddrFrom4([4]byte(b[12:16]))
	p.Destination = netip.AddrFrom4([4]byte(b[16:20]))
	header := int(b[0]&0x0f) * 4
	first := binary.BigEndian.Uint16(b[6:])&0x1fff == 0
	var l4 []byte
	if header >= ipv4Header && header <= len(b) && first {
		l4 = b[header:]
	}
	switch b[9] {
	case unix.IPPROTO_TCP:
		p.Protocol = TCP
		p.decodePorts(l4)
		if len(l4) >= 14 {
			flags := l4[13]
			p.FIN, p.SYN, p.RST, p.ACK = flags&1 != 0, flags&2 != 0, flags&4 != 0, flags&16 != 0
		}
	case unix.IPPROTO_UDP:
		p.Protocol = UDP
		p.decodePorts(l4)
	case unix.IPPROTO_ICMP:
		p.Protocol = ICMP
		if len(l4) >= 2 {
			p.ICMPType, p.ICMPCode = l4[0], l4[1]
		}
	}
}

func (p *Packet) decodePorts(l4 []byte) {
	if len(l4) >= 4 {
		p.SourcePort = binary.BigEndian.Uint16(l4)
		p.DestinationPort = binary.BigEndian.Uint16(l4[2:])
	}
}
