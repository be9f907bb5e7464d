package reservation

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
	"homeward/agent/ledger/inventory"
	"homeward/agent/segment"
	"homeward/netplan"
)

func TestHeard(t *testing.T) {
	pool, vip, gateway := netip.MustParseAddr("203.0.113.75"), netip.MustParseAddr("203.0.113.79"), netip.MustParseAddr("203.0.113.1")
	own, guest, stranger := netplan.MAC{2, 0, 0, 0, 0, 1}, netplan.MAC{2, 0, 0, 0, 0, 2}, netplan.MAC{2, 0, 0, 0, 0, 3}
	plan := &netplan.Plan{
		External: &netplan.External{Gateway: gateway},
		Machines: []netplan.Machine{{Name: "edge-worker-01", MACs: netplan.MACs{External: own}}},
	}
	look := func() *Look {
		return &Look{
			Survey: &inventory.Survey{},
			Snapshot: &inventory.Snapshot{Guests: []inventory.Guest{
				{Kind: inventory.QEMU, VMID: 113, Name: "db1", Config: map[string]string{"net1": "virtio=02:00:00:00:00:02,bridge=vmbr0"}},
			}},
			Wants: []ledger.Want{{Address: pool, Purpose: ledger.ForIngress}, {Address: vip, Purpose: ledger.ForKubeAPI}},
		}
	}
	answers := func(a netip.Addr, holders ...segment.Holder) segment.Report {
		state := segment.Free
		if len(holders) > 0 {
			state = segment.Taken
		}
		return segment.Report{Proven: true, Witness: gateway, Answers: []segment.Answer{{Address: a, State: state, Holders: holders}}}
	}
	for _, c := range []struct {
		name   string
		report segment.Report
		want   []string
		unread int
	}{
		{"nobody", answers(pool), nil, 0},
		{"our own announcement", answers(pool, segment.Holder{MAC: own, Answered: true}), nil, 0},
		{"a guest", answers(pool, segment.Holder{MAC: guest, Answered: true}),
			[]string{"203.0.113.75 ingress: MAC 02:00:00:00:00:02 (guest db1) answers for it on the segment"}, 0},
		{"a stranger beside us", answers(vip, segment.Holder{MAC: own, Answered: true}, segment.Holder{MAC: stranger}),
			[]string{"203.0.113.79 kubeapi: MAC 02:00:00:00:00:03 announces it on the segment"}, 0},
		{"silence that proves nothing", segment.Report{Answers: []segment.Answer{{Address: pool, State: segment.Unknown}}}, nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := look()
			l.Heard(plan, c.report)
			var got []string
			for _, taken := range l.Taken(ledger.Owner{Cluster: "edge"}) {
				got = append(got, taken.Address+" "+taken.For+": "+taken.Source)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
			if len(l.Survey.Unread) != c.unread {
				t.Errorf("unread: %v, want %d", l.Survey.Unread, c.unread)
			}
		})
	}
}
