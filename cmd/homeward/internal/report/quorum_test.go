package report_test

import (
	"fmt"
	"testing"

	"homeward/cmd/homeward/internal/report"
)

func TestQuorumArithmetic(t *testing.T) {
	tests := []struct{ members, lost, quorum, spare int }{
		{1, 0, 1, 0}, {1, 1, 1, -1},
		{2, 0, 2, 0}, {2, 1, 2, -1},
		{3, 0, 2, 1}, {3, 1, 2, 0}, {3, 2, 2, -1},
		{4, 1, 3, 0}, {4, 2, 3, -1},
		{5, 2, 3, 0}, {5, 3, 3, -1}, {7, 3, 4, 0}, {3, 9, 2, -2},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%d of %d lost", test.lost, test.members), func(t *testing.T) {
			e := report.Etcd{Members: test.members, There: test.members}.Without(test.lost)
			if e.Quorum() != test.quorum || e.Spare() != test.spare || e.Writes() != (test.spare >= 0) {
				t.Errorf("quorum %d, spare %d, writes %v; want %d, %d", e.Quorum(), e.Spare(), e.Writes(), test.quorum, test.spare)
			}
		})
	}
}

func TestLossOfAHostByWhereControlPlanesRun(t *testing.T) {
	tests := []struct {
		name    string
		edits   []string
		quorum  report.Verdict
		api     report.Effect
		ingress report.Effect
		left    int
	}{
		{"one of three", nil, report.Kept, report.Moves, report.Moves, 2},
		{"two of three", []string{"edge-controlplane-02: {node: pve2}", "edge-controlplane-02: {node: pve1}"}, report.NotKept, report.Lost, report.Moves, 1},
		{"one of two", []string{"controlplane: {count: 3}", "controlplane: {count: 2}", "  edge-controlplane-03: {node: pve3}\n", ""}, report.NotKept, report.Lost, report.Moves, 1},
		{"two of five", []string{"controlplane: {count: 3}", "controlplane: {count: 5}", "machines:\n", "machines:\n  edge-controlplane-04: {node: pve1}\n  edge-controlplane-05: {node: pve2}\n"}, report.Kept, report.Moves, report.Moves, 3},
		{"one of three, and two of unknown host", []string{"edge-controlplane-02: {node: pve2}", "edge-controlplane-02: {}", "edge-controlplane-03: {node: pve3}", "edge-controlplane-03: {}"}, report.Unforeseen, report.Unknown, report.Moves, 2},
		{"all announcers too", []string{"edge-worker-02: {node: pve2}", "edge-worker-02: {node: pve1}", "edge-worker-03: {node: pve3}", "edge-worker-03: {node: pve1}"}, report.Kept, report.Moves, report.Lost, 2},
		{"one announcer, and two of unknown host", []string{"edge-worker-02: {node: pve2}", "edge-worker-02: {}", "edge-worker-03: {node: pve3}", "edge-worker-03: {}"}, report.Kept, report.Moves, report.Unknown, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			loss := hostNamed(t, report.Make(factsOf(t, test.edits...)), "pve1").Loss
			if loss.Quorum != test.quorum || loss.API != test.api || loss.Ingress != test.ingress || loss.Etcd.There != test.left {
				t.Errorf("quorum %s, API %s, pool %s, %d left; want %s, %s, %s, %d", loss.Quorum, loss.API, loss.Ingress, loss.Etcd.There, test.quorum, test.api, test.ingress, test.left)
			}
		})
	}
}
