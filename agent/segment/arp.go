package segment

import (
	"encoding/binary"
	"net/netip"

	"homeward/netplan"
)

// Lengths in bytes: of an Ethernet header without a VLAN tag, of an ARP packet for
// IPv4 (RFC 826), and of both. MaxFrame is enough for any that arrives: what is
// longer than its packet is padding.
const (
	ethernetLength = 14
	arpLength      = 28
	frameLength    = ethernetLength + arpLength
	MaxFrame       = 128
)

// The numbers of RFC 826 and IEEE 802 that a frame must have.
const (
	etherTypeARP  = 0x0806
	etherTypeIPv4 = 0x0800
	hardwareEther = 1
	lengthMAC     = 6
	lengthIPv4    = 4
)

// Operation says whether an ARP packet asks or answers.
type Operation uint16

// The operations that count; others are not decoded.
const (
	Request Operation = 1
	Reply   Operation = 2
)

// ARP is one ARP packet for IPv4 in an Ethernet frame without a VLAN tag.
type ARP struct {
	// Source and Destination are the Ethernet header's.
	Source, Destination netplan.MAC
	Operation           Operation
	// SenderMAC is whom neighbours take as the owner of Sender. Sender is 0.0.0.0
	// in a probe.
	SenderMAC netplan.MAC
	Sender    netip.Addr
	// TargetMAC is zero in a request.
	TargetMAC netplan.MAC
	Target    netip.Addr
}

// Decode reads a frame. It refuses what is no ARP request or reply for IPv4 over
// Ethernet, what is cut short, and senders that no NIC can be (zero or a group).
func Decode(frame []byte) (ARP, bool) {
	if len(frame) < frameLength || binary.BigEndian.Uint16(frame[12:]) != etherTypeARP {
		return ARP{}, false
	}
	b := frame[ethernetLength:]
	operation := Operation(binary.BigEndian.Uint16(b[6:]))
	if binary.BigEndian.Uint16(b) != hardwareEther || binary.BigEndian.Uint16(b[2:]) != etherTypeIPv4 ||
		b[4] != lengthMAC || b[5] != lengthIPv4 || operation != Request && operation != Reply {
		return ARP{}, false
	}
	a := ARP{
		Destination: netplan.MAC(frame[0:6]), Source: netplan.MAC(frame[6:12]),
		Operation: operation,
		SenderMAC: netplan.MAC(b[8:14]), Sender: netip.AddrFrom4([4]byte(b[14:18])),
		TargetMAC: netplan.MAC(b[18:24]), Target: netip.AddrFrom4([4]byte(b[24:28])),
	}
	if a.SenderMAC.IsZero() || a.SenderMAC.IsMulticast() {
		return ARP{}, false
	}
	return a, true
}

// Append encodes the packet behind b, without padding: the NIC pads.
func (a ARP) Append(b []byte) []byte {
	b = append(append(b, a.Destination[:]...), a.Source[:]...)
	b = binary.BigEndian.AppendUint16(b, etherTypeARP)
	b = binary.BigEndian.AppendUint16(b, hardwareEther)
	b = binary.BigEndian.AppendUint16(b, etherTypeIPv4)
	b = append(b, lengthMAC, lengthIPv4)
	b = binary.BigEndian.AppendUint16(b, uint16(a.Operation))
	sender, target := a.Sender.As4(), a.Target.As4()
	b = append(append(b, a.SenderMAC[:]...), sender[:]...)
	return append(append(b, a.TargetMAC[:]...), target[:]...)
}

// probeFor is RFC 5227's probe for an IPv4 address.
func probeFor(address netip.Addr, own netplan.MAC) ARP {
	return ARP{
		Source: own, Destination: everyone(), Operation: Request,
		SenderMAC: own, Sender: netip.IPv4Unspecified(), Target: address,
	}
}

func everyone() netplan.MAC { return netplan.MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff} }

// answers says that the packet is an answer to a probe of own's: neighbours answer
// a probe to the MAC that asked, for the address 0.0.0.0.
func (a ARP) answers(own netplan.MAC) bool {
	return a.Operation == Reply && a.TargetMAC == own && a.Target.IsUnspecified() && a.SenderMAC != own
}

// claims says that the packet names its sender as the owner of Sender: an answer,
// an announcement, or a request under that address.
func (a ARP) claims(own netplan.MAC) bool {
	return !a.Sender.IsUnspecified() && a.SenderMAC != own
}
