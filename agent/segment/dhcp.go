package segment

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"homeward/netplan"
)

// The numbers of RFC 2131 (the message, its ports), RFC 2132 (the options) and
// RFC 791 (the IPv4 header).
const (
	portDHCPServer = 67
	portDHCPClient = 68
	protocolUDP    = 17

	dhcpLength    = 236 // of the fixed part
	dhcpMinimum   = 300 // some servers drop shorter messages, as BOOTP did
	dhcpCookie    = 0x63825363
	bootRequest   = 1
	bootReply     = 2
	flagBroadcast = 0x8000

	optionPad         = 0
	optionRequestedIP = 50
	optionLease       = 51
	optionMessageType = 53
	optionServerID    = 54
	optionParameters  = 55
	optionEnd         = 255

	messageDiscover = 1
	messageOffer    = 2

	ipv4Length = 20
	udpLength  = 8
)

// discover makes an IPv4 packet with a DHCPDISCOVER. requested is asked for with
// option 50, unless it is the zero Addr. The reply is asked for as a broadcast, since
// nobody here has the address that would be offered.
func discover(id uint32, mac netplan.MAC, requested netip.Addr) []byte {
	m := make([]byte, dhcpLength, dhcpMinimum)
	m[0], m[1], m[2] = bootRequest, hardwareEther, lengthMAC
	binary.BigEndian.PutUint32(m[4:], id)
	binary.BigEndian.PutUint16(m[10:], flagBroadcast)
	copy(m[28:], mac[:])
	m = binary.BigEndian.AppendUint32(m, dhcpCookie)
	m = append(m, optionMessageType, 1, messageDiscover)
	if requested.IsValid() {
		a := requested.As4()
		m = append(append(m, optionRequestedIP, lengthIPv4), a[:]...)
	}
	const subnetMask, router = 1, 3
	m = append(m, optionParameters, 3, subnetMask, router, optionLease, optionEnd)
	return udpPacket(append(m, make([]byte, max(0, dhcpMinimum-len(m)))...))
}

// udpPacket puts a DHCP client's message into UDP and IPv4, from 0.0.0.0 to all.
func udpPacket(payload []byte) []byte {
	total := ipv4Length + udpLength + len(payload)
	b := make([]byte, 0, total)
	b = append(b, 0x45, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(total))
	const hops = 64
	b = append(b, 0, 0, 0, 0, hops, protocolUDP, 0, 0)
	b = append(b, 0, 0, 0, 0, 255, 255, 255, 255)
	binary.BigEndian.PutUint16(b[10:], checksum(b))
	b = binary.BigEndian.AppendUint16(b, portDHCPClient)
	b = binary.BigEndian.AppendUint16(b, portDHCPServer)
	b = binary.BigEndian.AppendUint16(b, uint16(udpLength+len(payload)))
	b = append(b, 0, 0) // no checksum: IPv4 allows that, and Ethernet has its own
	return append(b, payload...)
}

// checksum is RFC 791's of a header whose own checksum is zero.
func checksum(header []byte) uint16 {
	sum := uint32(0)
	for i := 0; i+1 < len(header); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(header[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// Offer is what a DHCP server would give.
type Offer struct {
	// Server is its identifier (option 54), or where the offer came from.
	Server  netip.Addr `json:"server"`
	Address netip.Addr `json:"address"`
	// Asked is the address that was asked for, the zero Addr for none.
	Asked netip.Addr    `json:"asked,omitzero"`
	Lease time.Duration `json:"lease_ns,omitempty"`
}

// parseOffer reads an IPv4 packet with a DHCPOFFER to a MAC, and gives its
// transaction too. Anything else, and anything cut short, is refused.
func parseOffer(packet []byte, mac netplan.MAC) (o Offer, id uint32, ok bool) {
	m, source, ok := dhcpMessage(packet)
	if !ok || m[0] != bootReply || m[1] != hardwareEther || m[2] != lengthMAC || netplan.MAC(m[28:34]) != mac {
		return Offer{}, 0, false
	}
	o = Offer{Server: source, Address: netip.AddrFrom4([4]byte(m[16:20]))}
	offered := false
	for rest := m[dhcpLength+4:]; len(rest) > 0 && rest[0] != optionEnd; {
		if rest[0] == optionPad {
			rest = rest[1:]
			continue
		}
		if len(rest) < 2 || len(rest) < 2+int(rest[1]) {
			return Offer{}, 0, false
		}
		value := rest[2 : 2+int(rest[1])]
		switch {
		case rest[0] == optionMessageType && len(value) == 1:
			offered = value[0] == messageOffer
		case rest[0] == optionServerID && len(value) == lengthIPv4:
			o.Server = netip.AddrFrom4([4]byte(value))
		case rest[0] == optionLease && len(value) == 4:
			o.Lease = time.Duration(binary.BigEndian.Uint32(value)) * time.Second
		}
		rest = rest[2+len(value):]
	}
	return o, binary.BigEndian.Uint32(m[4:]), offered && !o.Address.IsUnspecified()
}

// dhcpMessage takes the message to a DHCP client out of an IPv4 packet.
func dhcpMessage(packet []byte) (message []byte, source netip.Addr, ok bool) {
	if len(packet) < ipv4Length || packet[0]>>4 != 4 || packet[9] != protocolUDP {
		return nil, source, false
	}
	header, total := int(packet[0]&15)*4, int(binary.BigEndian.Uint16(packet[2:]))
	fragment := binary.BigEndian.Uint16(packet[6:]) & 0x3fff
	if header < ipv4Length || total > len(packet) || total < header+udpLength || fragment != 0 {
		return nil, source, false
	}
	udp := packet[header:total]
	length := int(binary.BigEndian.Uint16(udp[4:]))
	if binary.BigEndian.Uint16(udp[2:]) != portDHCPClient || length > len(udp) || length < udpLength+dhcpLength+4 {
		return nil, source, false
	}
	message = udp[udpLength:length]
	if binary.BigEndian.Uint32(message[dhcpLength:]) != dhcpCookie {
		return nil, source, false
	}
	return message, netip.AddrFrom4([4]byte(packet[12:16])), true
}

// sortOffers orders offers by server, then by what was asked for, and drops those
// that say the same.
func sortOffers(offers []Offer) []Offer {
	slices.SortFunc(offers, func(a, b Offer) int {
		return cmp.Or(a.Server.Compare(b.Server), a.Asked.Compare(b.Asked), a.Address.Compare(b.Address))
	})
	return slices.CompactFunc(offers, func(a, b Offer) bool {
		return a.Server == b.Server && a.Asked == b.Asked && a.Address == b.Address
	})
}
