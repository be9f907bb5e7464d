package netplan_test

import (
	"net/netip"
	"testing"

	"homeward/netplan"
)

func TestPinAnchorsKeepsEverybody(t *testing.T) {
	s := seed(t)
	s.External.AnchorCIDR = prefix("169.254.32.0/27")
	s.Workers = []netplan.PoolSpec{{Name: "alpha", Count: ptr(1)}, {Name: "zeta", Count: ptr(9)}}
	old := resolve(t, s)
	s.Workers[0].Count = ptr(14)
	pins, faults := netplan.PinAnchors(s, old)
	if len(faults) > 0 || len(pins) == 0 {
		t.Fatalf("pins %v, faults %v", pins, faults)
	}
	for _, p := range pins {
		s.Machines = append(s.Machines, netplan.MachineSpec{Name: p.Machine, Anchor: netip.MustParseAddr(p.Anchor)})
	}
	after := resolve(t, s)
	for _, m := range old.Machines {
		if got := machine(t, after, m.Name).Anchor; got != m.Anchor {
			t.Errorf("%s moved from %s to %s in spite of its pin", m.Name, m.Anchor, got)
		}
	}
	if again, _ := netplan.PinAnchors(s, old); len(again) > 0 {
		t.Errorf("nobody moves any more, but %v are to be pinned", again)
	}
}

func TestPinAnchorsWithoutAnOldPlanPinsAll(t *testing.T) {
	pins, _ := netplan.PinAnchors(seed(t), nil)
	if len(pins) != 6 || pins[0] != (netplan.Pin{Machine: "edge-controlplane-01", Anchor: "169.254.38.87"}) {
		t.Errorf("pins %v", pins)
	}
}

func TestPinAnchorsRefusesAnchorsOfAnotherNetwork(t *testing.T) {
	old := resolve(t, seed(t))
	s := seed(t)
	s.External.AnchorCIDR = prefix("169.254.64.0/20")
	if pins, faults := netplan.PinAnchors(s, old); len(faults) == 0 {
		t.Errorf("pins %v lie outside the new network", pins)
	}
}
