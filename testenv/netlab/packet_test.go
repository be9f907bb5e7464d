//go:build linux

package netlab

import (
	"encoding/hex"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	toFrom = "020000000001020000000002"
	// 192.0.2.1:1024 > 192.0.2.2:80, SYN and ACK.
	tcpFrame = toFrom + "0800" + "4500002800004000400600 00c0000201c0000202" + "04000050" + "0000000000000000" + "5012" + "0000000000000000"
	// The same as a fragment behind the first: what looks like ports is data.
	fragment = toFrom + "0800" + "450000280000000a400600 00c0000201c0000202" + "0400005000000000"
	icmp     = toFrom + "0800" + "4500001c00004000400100 00c0000201c0000202" + "0304000000000000"
	options  = toFrom + "0800" + "4600002000004000401100 00c0000201c0000202" + "01010101" + "04000050000c0000"
	arp      = toFrom + "0806" + "0001080006040002" + "020000000002c0000201" + "020000000001c0000202"
)

func TestDecode(t *testing.T) {
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	tests := map[string]struct{ frame, want string }{
		"tcp":          {tcpFrame, " in tcp 192.0.2.1:1024 > 192.0.2.2:80 [SA]"},
		"fragment":     {fragment, " in tcp 192.0.2.1 > 192.0.2.2"},
		"icmp":         {icmp, " in icmp 192.0.2.1 > 192.0.2.2 type 3 code 4"},
		"ip options":   {options, " in udp 192.0.2.1:1024 > 192.0.2.2:80"},
		"arp":          {arp, " in arp 192.0.2.1 > 192.0.2.2"},
		"cut in IP":    {tcpFrame[:50], " in other invalid IP > invalid IP"},
		"cut in TCP":   {tcpFrame[:71], " in tcp 192.0.2.1 > 192.0.2.2"},
		"no ethernet":  {"00", " in other invalid IP > invalid IP"},
		"another type": {toFrom + "86dd60", " in other invalid IP > invalid IP"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, decode(frame(t, test.frame)).String()); diff != "" {
				t.Errorf("packet (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("built ARP reads back", func(t *testing.T) {
		mac := frame(t, "020000000009")
		got := decode(arpFrame(arpReply, mac, a, broadcast(), b, broadcast()))
		if got.Protocol != ARP || !got.ARPReply || got.Source != a || got.Destination != b || got.SenderMAC.String() != "02:00:00:00:00:09" {
			t.Errorf("read back as %+v", got)
		}
	})
}

func frame(t testing.TB, text string) []byte {
	t.Helper()
	compact := []byte{}
	for _, c := range []byte(text) {
		if c != ' ' {
			compact = append(compact, c)
		}
	}
	b, err := hex.DecodeString(string(compact))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{tcpFrame, fragment, icmp, options, arp, ""} {
		f.Add(frame(f, seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := decode(b)
		if p.Length != len(b) {
			t.Errorf("length %d of %d bytes", p.Length, len(b))
		}
		known := p.Protocol != ProtocolOther
		if known && (!p.Source.Is4() || !p.Destination.Is4()) {
			t.Errorf("%s packet without addresses: %s", p.Protocol, p)
		}
		if p.Protocol != TCP && p.Protocol != UDP && (p.SourcePort != 0 || p.DestinationPort != 0) {
			t.Errorf("ports in a packet that has none: %s", p)
		}
	})
}
