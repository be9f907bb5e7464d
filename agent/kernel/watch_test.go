//go:build linux

package kernel

import (
	"context"
	"testing"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"homeward/netplan"
	"homeward/testenv/netlab"
)

// next waits for a change, "" when none comes.
func next(c <-chan string, most time.Duration) string {
	select {
	case what := <-c:
		return what
	case <-time.After(most):
		return ""
	}
}

func TestWatch(t *testing.T) {
	inHost(t, func(k *Kernel, _ *netlab.Host) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if err := k.ReplaceMarkTable(ctx, oneTable(t), testStamp, netplan.Counters{}); err != nil {
			t.Fatal(err)
		}
		events := k.Watch(ctx)
		tests := []struct {
			name   string
			counts bool
			do     []string
		}{
			{"our set", true, []string{"nft", "flush", "set", "inet", "homeward", "ingress4"}},
			{"our rules", true, []string{"nft", "flush", "chain", "inet", "homeward", "output"}},
			{"the whole ruleset", true, []string{"nft", "flush", "ruleset"}},
			{"a foreign table", false, []string{"nft", "add", "table", "inet", "foreign"}},
			{"a foreign chain", false, []string{"nft", "add", "chain", "inet", "foreign", "homeward"}},
			{"a rule", true, []string{"ip", "rule", "add", "priority", "77", "lookup", "251"}},
			{"an address", true, []string{"ip", "addr", "add", "169.254.33.7/32", "dev", "ext"}},
			{"a pod's route", false, []string{"ip", "route", "add", "10.244.0.7/32", "dev", "ext"}},
			{"an IPv6 route", false, []string{"ip", "-6", "route", "add", "2001:db8::/64", "dev", "ext"}},
			{"an IPv6 default route", true, []string{"ip", "-6", "route", "add", "default", "via", "fe80::1", "dev", "ext"}},
			{"a route in our table", true, []string{"ip", "route", "add", "203.0.113.0/24", "dev", "ext", "table", "251"}},
			{"a link down", true, []string{"ip", "link", "set", "ext", "down"}},
			{"a link renamed", true, []string{"ip", "link", "set", "ext", "name", "ens19"}}, // before Linux 6.2 only while down
		}
		// The kernel tells of a new link's carrier up to a second later.
		for next(events, 1500*time.Millisecond) != "" {
		}
		for _, tt := range tests {
			for next(events, 100*time.Millisecond) != "" { // what the one before left
			}
			run(t, tt.do[0], tt.do[1:]...)
			wait := time.Second
			if !tt.counts {
				wait = 50 * time.Millisecond
			}
			if got := next(events, wait); (got != "") != tt.counts {
				t.Errorf("%s: got %q, want a word: %v", tt.name, got, tt.counts)
			}
		}
	})
}

func TestWatchJoinsAgain(t *testing.T) {
	k := newKernel(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := subscriptions()[1]
	conn, err := s.join()
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan string, 16)
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.follow(ctx, s, conn, nil, func(what string) { events <- what })
	}()
	if err := conn.Close(); err != nil { // under it
		t.Fatal(err)
	}
	if got := next(events, 3*rejoin); got != "missed" {
		t.Fatalf("after the socket broke: %q", got)
	}
	run(t, "ip", "link", "add", "probe0", "type", "veth")
	t.Cleanup(func() { run(t, "ip", "link", "del", "probe0") })
	if got := next(events, time.Second); got != "link" {
		t.Errorf("after joining again: %q", got)
	}
	cancel()
	select {
	case <-done:
	case <-time.After(time.Second):
		t.Error("does not end with its context")
	}
}

func TestOverflowCountsAsAChange(t *testing.T) {
	newKernel(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := subscriptions()[1]
	conn, err := s.join()
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadBuffer(1); err != nil { // the kernel's least, a few kilobytes
		t.Fatal(err)
	}
	for range 20 {
		run(t, "ip", "addr", "add", "192.0.2.1/32", "dev", "lo")
		run(t, "ip", "addr", "del", "192.0.2.1/32", "dev", "lo")
	}
	events := make(chan string, 1000)
	done := make(chan error, 1)
	go func() { done <- s.read(ctx, conn, func(what string) { events <- what }) }()
	for {
		switch got := next(events, time.Second); got {
		case "missed":
			cancel()
			<-done
			return
		case "":
			t.Fatal("no word of the overflow")
		}
	}
}

func TestRoutingChange(t *testing.T) {
	route := func(bits, table byte) []byte {
		b := make([]byte, unix.SizeofRtMsg)
		b[1], b[4] = bits, table
		return b
	}
	tests := []struct {
		name string
		kind uint16
		data []byte
		want string
	}{
		{"link", unix.RTM_DELLINK, nil, "link"},
		{"address", unix.RTM_DELADDR, nil, "address"},
		{"rule", unix.RTM_NEWRULE, nil, "rule"},
		{"a pod's route", unix.RTM_NEWROUTE, route(32, unix.RT_TABLE_MAIN), ""},
		{"a local address", unix.RTM_NEWROUTE, route(32, unix.RT_TABLE_LOCAL), ""},
		{"the default route", unix.RTM_DELROUTE, route(0, unix.RT_TABLE_MAIN), "route"},
		{"our table", unix.RTM_DELROUTE, route(25, 251), "route"},
		{"a table above 255", unix.RTM_DELROUTE, route(25, unix.RT_TABLE_COMPAT), "route"},
		{"cut short", unix.RTM_DELROUTE, []byte{2}, ""},
		{"a neighbour", unix.RTM_NEWNEIGH, nil, ""},
	}
	for _, tt := range tests {
		m := netlink.Message{Header: netlink.Header{Type: netlink.HeaderType(tt.kind)}, Data: tt.data}
		if got := routingChange(m); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
