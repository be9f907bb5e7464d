//go:build linux

package netlab_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"homeward/testenv/netlab"
)

// announcement is a broadcast ARP reply: this address has the MAC 02:00:00:00:00:09.
func announcement(a netip.Addr) []byte {
	mac := []byte{2, 0, 0, 0, 0, 9}
	frame := append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, mac...)
	frame = append(append(frame, 8, 6, 0, 1, 8, 0, 6, 4, 0, 2), mac...)
	frame = append(append(frame, a.AsSlice()...), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	return append(frame, a.AsSlice()...)
}

func TestFloodSendsInTurn(t *testing.T) {
	p := newPair(t)
	var frames [][]byte
	var turn []netip.Addr
	for a := netip.MustParseAddr("198.51.100.1"); len(turn) < 7; a = a.Next() {
		turn, frames = append(turn, a), append(frames, announcement(a))
	}
	heard, err := p.right.Capture(t.Context(), "eth1")
	must(t, err)
	during, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	const rate = 5000
	sent, err := p.left.Flood(during, "eth0", rate, frames)
	must(t, err)
	packets, err := heard.Stop(shortly(t))
	must(t, err)
	n := 0
	for _, packet := range packets {
		if packet.Protocol != netlab.ARP || !packet.ARPReply {
			continue
		}
		if want := turn[n%len(turn)]; packet.Source != want {
			t.Fatalf("number %d is %v, want %s", n, packet, want)
		}
		n++
	}
	// It may end a little late, and then has sent as much as is due by then.
	if n != sent || sent < 2*len(turn) || sent > 10*rate {
		t.Errorf("%d sent, %d heard", sent, n)
	}
	if _, err := p.left.Flood(t.Context(), "eth9", rate, frames); err == nil {
		t.Error("it floods from a link that is not there")
	}
}
