package segment

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// offerTo answers a discover as a server does.
func offerTo(ask []byte, address netip.Addr) []byte {
	m := append([]byte{}, ask[ipv4Length+udpLength:][:dhcpLength+4]...)
	m[0] = bootReply
	a := address.As4()
	copy(m[16:], a[:])
	m = append(m, optionPad, optionMessageType, 1, messageOffer, optionServerID, 4, 203, 0, 113, 2, optionLease, 4, 0, 0, 14, 16, optionEnd)
	b := udpPacket(m)
	copy(b[12:16], []byte{203, 0, 113, 3}) // a relay's
	binary.BigEndian.PutUint16(b[ipv4Length:], portDHCPServer)
	binary.BigEndian.PutUint16(b[ipv4Length+2:], portDHCPClient)
	return b
}

func TestDiscover(t *testing.T) {
	b := discover(0x01020304, own, pool)
	if checksum(b[:ipv4Length]) != 0 {
		t.Error("the header's checksum is wrong")
	}
	if len(b) < ipv4Length+udpLength+dhcpMinimum || int(binary.BigEndian.Uint16(b[2:])) != len(b) {
		t.Errorf("%d bytes long, says %d", len(b), binary.BigEndian.Uint16(b[2:]))
	}
	m := b[ipv4Length+udpLength:]
	if m[0] != bootRequest || m[242] != messageDiscover {
		t.Error("it is no DHCPDISCOVER")
	}
}

func TestParseOffer(t *testing.T) {
	good := offerTo(discover(7, own, netip.Addr{}), pool)
	got, id, ok := parseOffer(good, own)
	want := Offer{Server: netip.MustParseAddr("203.0.113.2"), Address: pool, Lease: time.Hour}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" || id != 7 || !ok {
		t.Errorf("id %d, ok %v (-want +got):\n%s", id, ok, diff)
	}
	spoil := func(at int, v byte) []byte {
		b := append([]byte{}, good...)
		b[at] = v
		return b
	}
	const message = ipv4Length + udpLength
	for name, b := range map[string][]byte{
		"nothing": nil, "cut short": good[:len(good)-3], "our own question": discover(7, own, pool),
		"to another client": spoil(message+28, 9), "a message that is no offer": spoil(message+dhcpLength+4+3, 5),
		"another port": spoil(ipv4Length+3, 67), "TCP": spoil(9, 6), "a fragment": spoil(7, 1), "an option that runs over": spoil(len(good)-6, 200),
		"no cookie": spoil(message+dhcpLength, 0), "no address": offerTo(discover(7, own, pool), netip.IPv4Unspecified()),
		"a header that is too short": spoil(0, 0x44),
	} {
		t.Run(name, func(t *testing.T) {
			if got, _, ok := parseOffer(b, own); ok {
				t.Errorf("taken as %+v", got)
			}
		})
	}
}

func FuzzParseOffer(f *testing.F) {
	f.Add(offerTo(discover(7, own, netip.Addr{}), pool))
	f.Add(discover(7, own, pool))
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, _, ok := parseOffer(b, own); ok && (!o.Address.Is4() || !o.Server.Is4()) {
			t.Fatalf("%+v", o)
		}
	})
}
