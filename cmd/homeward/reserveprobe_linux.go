package main

import (
	"context"

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
	var report segment.Report
	err := kernel.New(t.log).OnWire(ctx, legOf(s.Plan.External.Segment, name), func(w *kernel.Wire) (err error) {
		report, err = segment.Probe(ctx, w, l.ProbeFor(s.Plan))
		return err
	})
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
