//go:build linux

package kernel

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"homeward/netplan"
	"homeward/testenv/netlab"
)

func TestAsk(t *testing.T) {
	gateway, anchor, probe := netip.MustParseAddr("203.0.113.1"), netip.MustParseAddr("169.254.33.7"), netip.IPv4Unspecified()
	inHost(t, func(k *Kernel, peer *netlab.Host) {
		ext := link(t, k, "ext")
		if err := peer.AddAddress("port", netip.MustParsePrefix("203.0.113.1/24")); err != nil {
			t.Fatal(err)
		}
		attrs, err := peer.Link("port")
		if err != nil {
			t.Fatal(err)
		}
		want := netplan.MAC(attrs.HardwareAddr)
		for _, sender := range []netip.Addr{anchor, probe} {
			if got, err := (Prober{}).Ask(context.Background(), ext, sender, gateway); err != nil || got != want {
				t.Errorf("as %s: got %s, %v; want %s", sender, got, err, want)
			}
		}
		began := time.Now()
		if got, err := (Prober{}).Ask(context.Background(), ext, probe, netip.MustParseAddr("203.0.113.9")); err != nil || !got.IsZero() {
			t.Errorf("nobody's address: got %s, %v", got, err)
		}
		if took := time.Since(began); took < askTries*askWait || took > 2*askTries*askWait {
			t.Errorf("waited %v for nobody", took)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		began = time.Now()
		if _, err := (Prober{}).Ask(ctx, ext, probe, netip.MustParseAddr("203.0.113.9")); err == nil || time.Since(began) > askWait {
			t.Errorf("with its context ended: error %v after %v", err, time.Since(began))
		}
		if _, err := (Prober{}).Ask(context.Background(), netplan.Link{Index: 9999, Name: "gone"}, probe, gateway); err == nil {
			t.Error("asked on a link that is not there")
		}
	})
}

func TestReplyFrom(t *testing.T) {
	ours, theirs := netplan.MAC{2, 0, 0, 0, 0, 1}, netplan.MAC{2, 0, 0, 0, 0, 9}
	gateway, anchor, probe := netip.MustParseAddr("203.0.113.1"), netip.MustParseAddr("169.254.33.7"), netip.IPv4Unspecified()
	good := arpMessage(arpReply, theirs, gateway, ours, anchor)
	if got, ok := replyFrom(append(good, make([]byte, 18)...), ours, anchor, gateway); !ok || got != theirs {
		t.Errorf("a padded answer: %s, %v", got, ok)
	}
	for name, b := range map[string][]byte{
		"a request":               arpMessage(arpRequest, theirs, gateway, ours, anchor),
		"someone else's address":  arpMessage(arpReply, theirs, anchor, ours, anchor),
		"to someone else":         arpMessage(arpReply, theirs, gateway, theirs, anchor),
		"the answer to our probe": arpMessage(arpReply, theirs, gateway, ours, probe),
		"no MAC":                  arpMessage(arpReply, netplan.MAC{}, gateway, ours, anchor),
		"a group's MAC":           arpMessage(arpReply, netplan.MAC{1}, gateway, ours, anchor),
		"cut short":               good[:27],
		"nothing":                 nil,
		"not Ethernet":            append([]byte{0, 6}, good[2:]...),
	} {
		if got, ok := replyFrom(b, ours, anchor, gateway); ok {
			t.Errorf("%s: taken as %s", name, got)
		}
	}
}

func FuzzReplyFrom(f *testing.F) {
	ours := netplan.MAC{2, 0, 0, 0, 0, 1}
	gateway, anchor := netip.MustParseAddr("203.0.113.1"), netip.MustParseAddr("169.254.33.7")
	f.Add(arpMessage(arpReply, netplan.MAC{2, 0, 0, 0, 0, 9}, gateway, ours, anchor))
	f.Add([]byte{0, 1, 8, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if mac, ok := replyFrom(b, ours, anchor, gateway); ok && (mac.IsZero() || mac.IsMulticast()) {
			t.Fatalf("took %s", mac)
		}
	})
}

func FuzzAttribute(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 8, 0, 1, 0, 'a', 'b', 'c', 0}, 4)
	f.Add([]byte{5, 0, 1, 0, 1}, 0)
	f.Fuzz(func(_ *testing.T, b []byte, skip int) {
		if skip < 0 {
			return
		}
		attribute(b, skip, 1)
	})
}

func FuzzParseRule(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 251, 0, 0, 1, 0, 0, 0, 0, 8, 0, 6, 0, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := parseRule(b); err == nil && r.Action != netplan.ActionLookup && r.Table != 0 {
			t.Fatalf("a rule with a table that it does not use: %+v", r)
		}
	})
}
