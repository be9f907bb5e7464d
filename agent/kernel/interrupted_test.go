//go:build linux

package kernel

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vishvananda/netlink"

	"homeward/netplan"
	"homeward/testenv/netlab"
)

// interruptions is a log that counts how often a listing was interrupted.
type interruptions struct{ n atomic.Int64 }

func (i *interruptions) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "interrupted by a change") {
		i.n.Add(1)
	}
	return len(line), nil
}

// crowd is how many things a listing has to have for several datagrams.
const crowd = 1500

// batch does many commands of ip at once.
func batch(t *testing.T, line func(i int) string) {
	t.Helper()
	var lines strings.Builder
	for i := range crowd {
		fmt.Fprintln(&lines, line(i))
	}
	cmd := exec.Command("ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(lines.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ip -batch: %v\n%s", err, out)
	}
}

// place is the i-th of many addresses.
func place(i int) string { return fmt.Sprintf("10.77.%d.%d", i/250, 1+i%250) }

// TestListingsDuringChanges lists while something comes and goes. What is there all
// the time must be in every listing; and a test during which no listing was really
// caught by a change has proved nothing.
func TestListingsDuringChanges(t *testing.T) {
	inTable := func(i int) netlink.Route {
		return netlink.Route{Table: 251, Dst: ipNetOf(netip.MustParsePrefix(place(i) + "/32")), Scope: netlink.SCOPE_LINK, LinkIndex: 1}
	}
	tests := map[string]struct {
		fill func(i int) string
		flip func(h *netlink.Handle) error // comes and goes
		list func(k *Kernel) (stable int, err error)
		// told says that an interruption shows: the kernel marks the dump, or we find
		// out. Of routes it does neither: the kernel goes on by the destination where it
		// stopped, so that others lose nothing by a change.
		told bool
	}{
		"rules": {
			fill: func(i int) string { return fmt.Sprintf("rule add priority %d lookup 251", 2000+i) },
			flip: func(h *netlink.Handle) error {
				r := netlink.NewRule()
				r.Family, r.Priority, r.Table = netlink.FAMILY_V4, 1000, 251
				if err := h.RuleAdd(r); err != nil {
					return err
				}
				return h.RuleDel(r)
			},
			list: func(k *Kernel) (int, error) {
				listed, err := k.Rules(context.Background())
				return count(listed, func(r netplan.Rule) netplan.Priority { return r.Priority }, func(r netplan.Rule) bool { return r.Priority >= 2000 && r.Priority < 2000+crowd }), err
			},
			told: true,
		},
		"addresses": {
			fill: func(i int) string { return "addr add " + place(i) + "/32 dev lo" },
			flip: func(h *netlink.Handle) error {
				a := &netlink.Addr{IPNet: ipNetOf(netip.MustParsePrefix("192.0.2.1/32"))}
				lo := &netlink.Device{LinkAttrs: netlink.LinkAttrs{Index: 1, Name: "lo"}}
				if err := h.AddrAdd(lo, a); err != nil {
					return err
				}
				return h.AddrDel(lo, a)
			},
			list: func(k *Kernel) (int, error) {
				listed, err := k.Addresses(context.Background(), netplan.Link{Index: 1, Name: "lo"})
				return count(listed, func(a netip.Addr) netip.Addr { return a }, netip.MustParsePrefix("10.77.0.0/16").Contains), err
			},
			told: true,
		},
		"routes": {
			fill: func(i int) string { return "route add " + place(i) + "/32 dev lo table 251" },
			flip: func(h *netlink.Handle) error {
				r := inTable(crowd + 1)
				if err := h.RouteAdd(&r); err != nil {
					return err
				}
				return h.RouteDel(&r)
			},
			list: func(k *Kernel) (int, error) {
				listed, err := k.Routes(context.Background(), 251)
				last := netip.MustParseAddr(place(crowd - 1))
				return count(listed, func(r netplan.Route) netip.Prefix { return r.Destination }, func(r netplan.Route) bool { return r.Destination.Addr().Compare(last) <= 0 }), err
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inHost(t, func(k *Kernel, _ *netlab.Host) {
				seen := &interruptions{}
				k.log = slog.New(slog.NewTextHandler(seen, &slog.HandlerOptions{Level: slog.LevelDebug}))
				run(t, "ip", "link", "set", "lo", "up")
				batch(t, tt.fill)
				changes, stop := flipping(t, tt.flip)
				defer stop()
				caught, whole := 0, 0
				for end := time.Now().Add(time.Minute); caught == 0 || whole < 20 || tt.told && seen.n.Load() == 0; {
					before := changes.Load()
					stable, err := tt.list(k)
					during := changes.Load() > before
					switch {
					case err != nil && strings.Contains(err.Error(), netlink.ErrDumpInterrupted.Error()):
						// An error is no listing: nothing is concluded from it.
					case err != nil:
						t.Fatal(err)
					case stable != crowd:
						t.Fatalf("a listing has %d of %d that are there all the time", stable, crowd)
					default:
						whole++
					}
					if during {
						caught++
					}
					if time.Now().After(end) {
						t.Fatalf("%d listings with changes, %d interruptions, %d whole listings: the test proves nothing", caught, seen.n.Load(), whole)
					}
				}
				t.Logf("%d listings with changes, %d interruptions, %d whole listings", caught, seen.n.Load(), whole)
			})
		})
	}
}

// count counts different things of a listing.
func count[T any, K comparable](listed []T, key func(T) K, counts func(T) bool) int {
	different := map[K]bool{}
	for _, v := range listed {
		if counts(v) {
			different[key(v)] = true
		}
	}
	return len(different)
}

// flipping lets something come and go, with pauses of differing length, until stop;
// it counts.
func flipping(t *testing.T, flip func(*netlink.Handle) error) (changes *atomic.Int64, stop func()) {
	t.Helper()
	// The handle belongs to this thread's network namespace, whoever uses it.
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		t.Fatal(err)
	}
	changes = &atomic.Int64{}
	quit, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-quit:
				done <- nil
				return
			case <-time.After(time.Duration(i%8) * time.Millisecond):
			}
			if err := flip(h); err != nil {
				done <- err
				return
			}
			changes.Add(1)
		}
	}()
	return changes, func() {
		close(quit)
		if err := <-done; err != nil {
			t.Error(err)
		}
		h.Close()
	}
}
