package main

import (
	"context"
	"errors"

	"homeward/agent/kernel"
	"homeward/agent/segment"
	"homeward/cmd/homeward/internal/reservation"
	"homeward/netplan"
)

// askSegment asks on the segment who has the plan's addresses. Where it cannot be
// asked from here the look says so.
func (t *tool) askSegment(ctx context.Context, s *site, l *reservation.Look, name string) {
	defer s.progress.end()
	s.progress.step("asking on the segment who has the addresses")
	report, err := t.probeFrom(ctx, legOf(s.Plan.External.Segment, name), l.ProbeFor(s.Plan))
	if err != nil {
		l.Deaf("it cannot be asked from here: " + err.Error() + ": run it as root on a Proxmox host, or name an interface on the segment with --interface")
		return
	}
	l.Heard(s.Plan, report)
}

// legOf is where a segment is on a Proxmox host; a VNet is a bridge of its name there.
func legOf(s netplan.Segment, name string) kernel.LegConfig {
	switch {
	case name != "":
		return kernel.LegConfig{Interface: name}
	case s.VNet != "":
		return kernel.LegConfig{Interface: s.VNet}
	}
	return kernel.LegConfig{Bridge: s.Bridge, VLAN: s.VLAN}
}

// probeFrom asks from one place of this host, and takes away what it made for that.
func (t *tool) probeFrom(ctx context.Context, c kernel.LegConfig, q segment.Question) (report segment.Report, err error) {
	k := kernel.New(t.log)
	leg, err := k.OpenLeg(ctx, c)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, leg.Close()) }()
	wire, err := k.OpenWire(ctx, leg.Name())
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, wire.Close()) }()
	return segment.Probe(ctx, wire, q)
}
