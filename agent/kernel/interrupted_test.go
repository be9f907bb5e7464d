//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
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

// How many things a listing has to have for several datagrams.
const (
	crowd     = 1500
	linkPairs = 40
)

// batch does many commands of ip at once.
func batch(t *testing.T, n int, line func(i int) string) {
	t.Helper()
	var lines strings.Builder
	for i := range n {
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

func host(address string) *net.IPNet { return ipNetOf(netip.MustParsePrefix(address + "/32")) }

// listing is something to list while it changes.
type listing struct {
	commands, things int // things that are there all the time
	fill             func(i int) string
	flip             func(h *netlink.Handle) error // comes and goes
	list             func(k *Kernel) (stable int, err error)
	// told says that an interruption shows: the kernel marks the dump, or we find
	// out. Of routes it does neither: the kernel goes on by the destination where it
	// stopped, so that others lose nothing by a change.
	told bool
}

func listings() map[string]listing {
	return map[string]listing{
		"links": {
			commands: linkPairs, things: 2 * linkPairs,
			fill: func(i int) string { return fmt.Sprintf("link add some%d type veth peer name other%d", i, i) },
			flip: func(h *netlink.Handle) error {
				l := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "flip"}, PeerName: "flop"}
				if err := h.LinkAdd(l); err != nil {
					return err
				}
				return h.LinkDel(l)
			},
			list: func(k *Kernel) (int, error) {
				listed, err := k.Links(context.Background())
				return count(listed, func(l netplan.Link) int { return l.Index }, func(l netplan.Link) bool {
					return strings.HasPrefix(l.Name, "some") || strings.HasPrefix(l.Name, "other")
				}), err
			},
			told: true,
		},
		"rules": {
			commands: crowd, things: crowd,
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
			commands: crowd, things: crowd,
			fill: func(i int) string { return "addr add " + place(i) + "/32 dev lo" },
			flip: func(h *netlink.Handle) error {
				a := &netlink.Addr{IPNet: host("192.0.2.1")}
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
			commands: crowd, things: crowd,
			fill: func(i int) string { return "route add " + place(i) + "/32 dev lo table 251" },
			flip: func(h *netlink.Handle) error {
				// In front of the others, behind them, and beside one of them.
				for _, r := range []netlink.Route{{Dst: host("10.76.0.1")}, {Dst: host("10.78.0.1")}, {Dst: host(place(crowd / 2)), Priority: 7}} {
					r.Table, r.Scope, r.LinkIndex = 251, netlink.SCOPE_LINK, 1
					if err := errors.Join(h.RouteAdd(&r), h.RouteDel(&r)); err != nil {
						return err
					}
				}
				return nil
			},
			list: func(k *Kernel) (int, error) {
				listed, err := k.Routes(context.Background(), 251)
				some := netip.MustParsePrefix("10.77.0.0/16")
				return count(listed, func(r netplan.Route) netip.Prefix { return r.Destination }, func(r netplan.Route) bool { return some.Contains(r.Destination.Addr()) && r.Metric == 0 }), err
			},
		},
	}
}

// TestListingsDuringChanges lists while something comes and goes. What is there all
// the time must be in every listing; and a test during which no listing was really
// caught by a change has proved nothing.
func TestListingsDuringChanges(t *testing.T) {
	for name, tt := range listings() {
		t.Run(name, func(t *testing.T) {
			inHost(t, func(k *Kernel, _ *netlab.Host) {
				seen := &interruptions{}
				k.log = slog.New(slog.NewTextHandler(seen, &slog.HandlerOptions{Level: slog.LevelDebug}))
				run(t, "ip", "link", "set", "lo", "up")
				batch(t, tt.commands, tt.fill)
				began := time.Now()
				if _, err := tt.list(k); err != nil {
					t.Fatal(err)
				}
				changes, stop := flipping(t, time.Since(began), tt.flip)
				defer stop()
				caught, whole := 0, 0
				for end := time.Now().Add(3 * time.Minute); caught == 0 || whole < 20 || tt.told && seen.n.Load() == 0; {
					before := changes.Load()
					stable, err := tt.list(k)
					during := changes.Load() > before
					switch {
					case err != nil && strings.Contains(err.Error(), netlink.ErrDumpInterrupted.Error()):
						// An error is no listing: nothing is concluded from it.
					case err != nil:
						t.Fatal(err)
					case stable != tt.things:
						t.Fatalf("a listing has %d of %d that are there all the time", stable, tt.things)
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

// flipping lets something come and go until stop, and counts. Its pauses differ from
// none to several times what an undisturbed listing takes, on whatever machine: some
// changes fall into a listing, and some listings between two changes.
func flipping(t *testing.T, listing time.Duration, flip func(*netlink.Handle) error) (changes *atomic.Int64, stop func()) {
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
			case <-time.After(time.Duration(i%8) * max(listing/2, time.Millisecond)):
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
