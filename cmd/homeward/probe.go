package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homeward/agent/probe"
)

// probeFlags are those of `homeward probe`.
type probeFlags struct {
	settings               probe.Settings
	tls, http, https, udp  bool
	output, plot           string
	bound                  time.Duration
	boundGiven, pathGiven  bool
	durationGiven, counted bool
}

const probeLong = `Measure from here whether targets can be reached, and how long they could not:
one attempt per interval and target, however long earlier ones take. An attempt is
a TCP handshake; with --tls, --http or --https more on top of it; with --udp a
datagram of 16 bytes and its echo. It ends after --duration, after --count attempts
at each target, or with Ctrl-C, and always with the summary.

A target is ADDRESS:PORT, NAME:PORT or [IPv6]:PORT. Names are looked up once, and
the address that is probed is shown. A redirect is not followed, a certificate not
checked, and an HTTP status of 500 or more is a failure.

An outage starts with the first attempt that failed and ends with the first that
succeeded again, both at the time they began: its length is right to one interval.
The TCP handshake gets at most 900ms of --timeout, so that no attempt is answered
only because the kernel repeated the SYN. Connections are closed with a reset, so
that no TIME_WAIT sockets pile up here or in the firewalls on the way; servers may
log that. Failures of this machine (too many open files, no free port) and times in
which the probe itself stood still (a laptop that slept) are reported as such and
are no outage.

Run it from a client behind the external router. A target on this machine's own
segment is answered without a router, also where replies leave by the wrong NIC;
then the MAC that answers is watched (from /proc/net/arp, ten times a second; IPv4
only), and there is a warning.

Exit codes: 0 it ran, and every target answered at least once; 1 a target never
answered, or with --expect-outage-below there was a longer outage, over or still
open; 2 the command line is wrong; 4 the probe itself failed, or it saw nothing for
longer than that bound. Names are looked up before the start: one that is not found is 4.

-o json prints the summary, -o jsonl one event a line: start, outage_start,
outage_end, mac_change, away, clock_step, own_failure, and last summary. Both are a
contract for scripts: fields are added, never renamed; lengths are in nanoseconds.

  event       always; the rest belongs to some events
  time        when it happened (RFC 3339)
  target      as it was given
  start       mode, interval_ns, timeout_ns, targets[]: target, address, interface
  cause       of the first failure: timeout, refused, reset, closed, unreachable,
              no_route, tls, status or reply
  outage      start, end, length_ns, at_least_ns, at_most_ns (none: unknown),
              state (over, open, end_unseen), began_unseen, causes
  mac_change  time, not_before, interface, from, to
  away        start, length_ns, slept
  clock_step  time, by_ns
  own_failure the reason
  summary     mode, interval_ns, timeout_ns, start, length_ns, away[], away_count,
              away_total_ns, clock_steps[], own_failures, lag, missed, late,
              lost_events, targets[]: target, address, attempts, answered, failed,
              unknown, causes, statuses, connect and answer (count, min_ns, p50_ns,
              p90_ns, p99_ns, p999_ns, max_ns), outages[], outage_count,
              outage_total_ns, outage_longest_ns, blind_longest_ns, interface,
              mac, mac_changes[], mac_change_count, last_ns, up`

func (t *tool) probeCommand() *cobra.Command {
	f := probeFlags{settings: probe.Settings{}}
	s := &f.settings
	cmd := &cobra.Command{
		Use:   "probe ADDRESS:PORT...",
		Short: "measure reachability and fail-over from here",
		Long:  probeLong,
		Example: `  homeward probe 203.0.113.75:443
  homeward probe 203.0.113.75:443 203.0.113.79:6443 --duration 5m --plot drill.svg
  homeward probe 203.0.113.75:443 --https --server-name www.example.edu --path /healthz
  homeward probe 203.0.113.75:443 --duration 2m --expect-outage-below 10s -o json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			for flag, given := range map[string]*bool{"expect-outage-below": &f.boundGiven, "path": &f.pathGiven, "duration": &f.durationGiven, "count": &f.counted} {
				*given = cmd.Flags().Changed(flag)
			}
			return t.probe(cmd.Context(), f, args)
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&s.Interval, "interval", probe.DefaultInterval, "from one attempt at a target to the next")
	flags.DurationVar(&s.Timeout, "timeout", probe.DefaultTimeout, "how long one attempt may take")
	flags.DurationVar(&s.Duration, "duration", 0, "how long to probe (default until interrupted)")
	flags.IntVar(&s.Count, "count", 0, "how many attempts to make at each target (default until interrupted)")
	flags.BoolVar(&f.tls, "tls", false, "also make a TLS handshake")
	flags.BoolVar(&f.http, "http", false, "also ask by HTTP GET")
	flags.BoolVar(&f.https, "https", false, "also ask by HTTP GET over TLS")
	flags.BoolVar(&f.udp, "udp", false, "send a UDP datagram instead, and expect its echo")
	flags.StringVar(&s.Path, "path", "/", "what to ask for by HTTP")
	flags.StringVar(&s.ServerName, "server-name", "", "the name for TLS and HTTP (default the target's)")
	flags.DurationVar(&f.bound, "expect-outage-below", 0, "exit with 1 when an outage was longer than this")
	flags.StringVarP(&f.output, "output", "o", "table", "table, json or jsonl")
	flags.StringVar(&f.plot, "plot", "", "also draw reachability and latency to this SVG file")
	return cmd
}

// check gives every mistake of the command line but the settings' own, and
// completes the settings.
func (f *probeFlags) check() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if f.output != "table" && f.output != "json" && f.output != "jsonl" {
		fault("-o %q is not known: give table, json or jsonl", f.output)
	}
	if f.boundGiven && f.bound <= 0 {
		fault("--expect-outage-below %v: give a positive one", f.bound)
	}
	if f.bound > 0 && f.bound < 2*f.settings.Interval {
		fault("--expect-outage-below %v: an interval of %v is too long to tell: give --interval %v or less", f.bound, f.settings.Interval, f.bound/2)
	}
	if f.durationGiven && f.settings.Duration <= 0 {
		fault("--duration %v: give a positive one, or none to probe until interrupted", f.settings.Duration)
	}
	if f.counted && f.settings.Count <= 0 {
		fault("--count %d: give a positive one, or none to probe until interrupted", f.settings.Count)
	}
	if f.plot != "" {
		if info, err := os.Stat(filepath.Dir(f.plot)); err != nil {
			fault("--plot: %w", err)
		} else if !info.IsDir() {
			fault("--plot: %s is no directory", filepath.Dir(f.plot))
		} else if info, err := os.Stat(f.plot); err == nil && !info.Mode().IsRegular() {
			fault("--plot: %s is no plain file", f.plot)
		}
	}
	f.settings.Mode = probe.ModeTCP
	var given []string
	for _, m := range []struct {
		on   bool
		mode probe.Mode
	}{{f.tls, probe.ModeTLS}, {f.http, probe.ModeHTTP}, {f.https, probe.ModeHTTPS}, {f.udp, probe.ModeUDP}} {
		if m.on {
			f.settings.Mode = m.mode
			given = append(given, "--"+string(m.mode))
		}
	}
	if len(given) > 1 {
		fault("%s exclude each other: give one", strings.Join(given, " and "))
	}
	if f.pathGiven && f.settings.Mode != probe.ModeHTTP && f.settings.Mode != probe.ModeHTTPS {
		fault("--path needs --http or --https")
	}
	f.settings.Timeline = f.plot != ""
	return errors.Join(errs...)
}

func (t *tool) probe(ctx context.Context, f probeFlags, args []string) error {
	endpoints, err := probe.ParseEndpoints(args)
	if err = errors.Join(err, f.check()); err != nil {
		return usage("%w", err)
	}
	targets, err := probe.Resolve(ctx, net.DefaultResolver.LookupNetIP, endpoints)
	if err != nil {
		return &coded{exitUnknown, err}
	}
	f.settings.Targets = targets
	if err := f.settings.Check(); err != nil {
		return usage("%w", err)
	}
	prober, err := probe.New(f.settings)
	if err != nil {
		return &coded{exitUnknown, err}
	}
	t.introduce(prober, targets)
	return t.runProbe(ctx, f, prober)
}

// introduce says what is probed where that is not what was given, and warns of
// what proves nothing.
func (t *tool) introduce(prober *probe.Prober, targets []probe.Target) {
	for _, target := range targets {
		if target.Name != target.Address.String() {
			t.log.Info("probing " + target.Name + " at " + target.Address.String())
		}
	}
	if near := prober.OnLink(); len(near) > 0 {
		t.log.Warn(shortList(near) + ": on this machine's own segment, where answers need no router. " +
			"That they come proves nothing about the return path: a node that sends replies out of the wrong NIC is reached from here all the same. " +
			"Probe from a machine behind the external router")
	}
}

// shortList names the first few.
func shortList(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
