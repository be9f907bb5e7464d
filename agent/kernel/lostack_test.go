//go:build linux

package kernel

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/nftables"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"homeward/agent/returnpath"
	"homeward/netplan"
	"homeward/testenv/netlab"
)

// replacing notes what came of each replacement of the table.
type replacing struct {
	*Kernel
	results []error
}

func (r *replacing) ReplaceMarkTable(ctx context.Context, t netplan.MarkTable, s netplan.Stamp, c netplan.Counters) error {
	err := r.Kernel.ReplaceMarkTable(ctx, t, s, c)
	r.results = append(r.results, err)
	return err
}

// deaf makes the connection's buffer for the kernel's answers so small that they do
// not fit. Listening to the events besides makes them enough: the answers alone, one
// for each rule, come in a single datagram, which always fits.
func deaf(c *netlink.Conn) error {
	return errors.Join(c.SetReadBuffer(1), c.JoinGroup(unix.NFNLGRP_NFTABLES))
}

// TestLostAcknowledgementIsNoFailure loses the kernel's answer: the kernel does the
// transaction, and says ENOBUFS.
func TestLostAcknowledgementIsNoFailure(t *testing.T) {
	inHost(t, func(k *Kernel, _ *netlab.Host) {
		k.nftOptions = []nftables.ConnOption{nftables.WithSockOptions(deaf)}
		r := &replacing{Kernel: k}
		ext := link(t, k, "ext")
		settings := returnpath.Settings{
			ExternalMAC: ext.MAC, Destinations: ranges(t, "203.0.113.75-203.0.113.79"),
			CIDR: netip.MustParsePrefix("203.0.113.0/25"), Gateway: netip.MustParseAddr("203.0.113.1"),
			Mark: netplan.DefaultMark, Mask: netplan.DefaultMask, Table: netplan.DefaultTable,
			Priorities: netplan.PrioritiesAt(netplan.DefaultPriority), Manage: true,
		}
		agent := returnpath.New(returnpath.Config{
			Settings: settings, Kernel: r, Prober: Prober{}, Clock: returnpath.SystemClock{Start: time.Now()},
			Log: k.log, Boot: time.Minute, Resync: time.Minute,
		})
		for _, doing := range []string{"installing", "repairing"} {
			r.results = nil
			status := agent.Pass(context.Background())
			if len(r.results) != 1 || !errors.Is(r.results[0], unix.ENOBUFS) {
				t.Fatalf("%s: replacing the table gave %v, want ENOBUFS once", doing, r.results)
			}
			if status.FailedPasses > 0 || slices.ContainsFunc(status.Problems, func(p returnpath.Problem) bool { return p.Kind == returnpath.ProblemNotConverged }) {
				t.Errorf("%s: a failure is reported of what was done: %+v", doing, status)
			}
			want := returnpath.Objects(netplan.MarkTable{Interface: "ext", Destinations: settings.Destinations, Mark: settings.Mark, Mask: settings.Mask})
			if got, err := k.MarkTable(context.Background()); err != nil || !cmp.Equal(want, got.Objects) {
				t.Errorf("%s: table %v, error %v", doing, got.Objects, err)
			}
			run(t, "nft", "flush", "ruleset")
		}
		if n := agent.Status().Repairs["nft_table"]; n != 1 {
			t.Errorf("%d repairs counted, want 1", n)
		}
	})
}
