//go:build linux

package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"homeward/testenv/netlab"
)

// Probe is the product's `homeward probe` at work on the client behind the router.
type Probe struct {
	cmd            *netlab.Cmd
	stdout, stderr bytes.Buffer
}

// ProbeResult is what it measured of its one target.
type ProbeResult struct {
	Attempts int           `json:"attempts"`
	Answered int           `json:"answered"`
	Outages  int           `json:"outage_count"`
	Longest  time.Duration `json:"outage_longest_ns"`
	// Up says that the target answered at the end.
	Up bool `json:"up"`
}

// StartProbe starts to measure a target over TCP for a time.
func (l *Lab) StartProbe(ctx context.Context, target netip.AddrPort, duration time.Duration) (*Probe, error) {
	p := &Probe{cmd: l.Net.Behind.Command(ctx, l.Product.Homeward,
		"probe", target.String(), "--duration", duration.String(), "-o", "json")}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	return p, p.cmd.Start()
}

// Result waits for the end of the measurement.
func (p *Probe) Result() (ProbeResult, error) {
	var summary struct{ Targets []ProbeResult }
	err := p.cmd.Wait()
	if err == nil {
		err = json.Unmarshal(p.stdout.Bytes(), &summary)
	}
	if err != nil || len(summary.Targets) != 1 {
		return ProbeResult{}, fmt.Errorf("probing: %d targets: %w: %s", len(summary.Targets), err, bytes.TrimSpace(p.stderr.Bytes()))
	}
	return summary.Targets[0], nil
}

// Asks gives a condition: the client behind the router is answered over TCP.
func (l *Lab) Asks(address netip.Addr, port uint16) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		return l.Net.Behind.Request(ctx, netlab.TCP, netip.AddrPortFrom(address, port), netlab.SmallestReply)
	}
}

// HasReturnPathRules gives a condition: the product's table has that many rules.
func (m *Machine) HasReturnPathRules(want int) func(context.Context) error {
	return func(context.Context) error {
		rules, err := m.ReturnPathRules()
		if err == nil && rules != want {
			err = fmt.Errorf("%d rules instead of %d", rules, want)
		}
		return err
	}
}
