package returnpath

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"homeward/netplan"

	"github.com/google/go-cmp/cmp"
)

func TestGateway(t *testing.T) {
	other := netplan.MAC{2, 0, 0, 0, 0, 8}
	known := netplan.Neighbour{MAC: gwMAC, Valid: true}
	tests := []struct {
		name         string
		plain, probe netplan.MAC
		err          error
		neighbour    netplan.Neighbour
		addrs        []netip.Addr
		want         GatewayStatus
		confirmed    int
	}{
		{name: "answers plain requests: the kernel's business", plain: gwMAC, neighbour: netplan.Neighbour{},
			addrs: []netip.Addr{anchor}, want: GatewayStatus{Known: true, Reachable: true, MAC: gwMAC}},
		{name: "answers plain requests from another MAC than the kernel has", plain: gwMAC, neighbour: netplan.Neighbour{MAC: other, Valid: true},
			addrs: []netip.Addr{anchor}, want: GatewayStatus{Known: true, Reachable: true, MAC: gwMAC}, confirmed: 1},
		{name: "answers only probes", probe: gwMAC, addrs: []netip.Addr{anchor},
			want: GatewayStatus{Known: true, Reachable: true, ProbeOnly: true, MAC: gwMAC}, confirmed: 1},
		{name: "answers only probes, entry there: kept alive", probe: gwMAC, neighbour: known, addrs: []netip.Addr{anchor},
			want: GatewayStatus{Known: true, Reachable: true, ProbeOnly: true, MAC: gwMAC}, confirmed: 1},
		{name: "answers nothing: the kernel's entry stays", neighbour: known, addrs: []netip.Addr{anchor},
			want: GatewayStatus{Known: true}},
		{name: "link without an address is probed", probe: gwMAC,
			want: GatewayStatus{Known: true, Reachable: true, ProbeOnly: true, MAC: gwMAC}, confirmed: 1},
		{name: "not allowed to ask: the kernel is believed", err: errFake, neighbour: known, addrs: []netip.Addr{anchor},
			want: GatewayStatus{Known: true, Reachable: true, MAC: gwMAC, Error: "fake failure; fake failure"}},
		{name: "pinned by hand to another MAC", probe: gwMAC, neighbour: netplan.Neighbour{MAC: other, Valid: true, Permanent: true}, addrs: []netip.Addr{anchor},
			want: GatewayStatus{Known: true, Reachable: true, ProbeOnly: true, MAC: gwMAC, Error: "its neighbour entry is pinned to 02:00:00:00:00:08, but it answers from 02:00:00:00:00:09"}},
	}
	pinned := known
	pinned.Permanent = true
	tests = append(tests, tests[2])
	last := &tests[len(tests)-1]
	last.name, last.neighbour, last.confirmed = "answers only probes, pinned by hand: left alone", pinned, 0
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k, _ := converged(t, testSettings())
			k.neighbour, k.addrs = tt.neighbour, tt.addrs
			a, _ := newAgent(t, k, testSettings(), time.Minute)
			a.cfg.Prober = &fakeProber{plain: tt.plain, probe: tt.probe, err: tt.err}
			a.Pass(context.Background())
			got := a.AskGateway(context.Background())
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if k.confirmed != tt.confirmed {
				t.Errorf("entered %d times, want %d", k.confirmed, tt.confirmed)
			}
			if st := a.Status(); st.Ready != tt.want.Reachable {
				t.Errorf("ready %v: %v", st.Ready, st.Problems)
			}
		})
	}
}

func TestGatewayIsLeftToTheLaterAgent(t *testing.T) {
	k, _ := converged(t, testSettings())
	k.table.Stamp = &netplan.Stamp{Start: time.Hour, Settings: [8]byte{1}}
	a, _ := newAgent(t, k, testSettings(), time.Minute)
	a.cfg.Prober = &fakeProber{probe: gwMAC}
	a.Pass(context.Background())
	if a.AskGateway(context.Background()); k.confirmed != 0 {
		t.Error("wrote a neighbour entry though it gave way")
	}
}

func TestSenderIsTheOneTheKernelWouldGive(t *testing.T) {
	k, _ := converged(t, testSettings())
	own := netip.MustParseAddr("203.0.113.50")
	k.addrs = []netip.Addr{anchor, own}
	a, _ := newAgent(t, k, testSettings(), time.Minute)
	p := &fakeProber{plain: gwMAC}
	a.cfg.Prober = p
	a.Pass(context.Background())
	a.AskGateway(context.Background())
	if len(p.asked) != 1 || p.asked[0] != own {
		t.Errorf("asked as %v, want %s only", p.asked, own)
	}
}

// A gateway that answered before the NIC went is not known to answer now.
func TestGatewayIsForgottenWithTheLink(t *testing.T) {
	k := newNode()
	a, _ := newAgent(t, k, testSettings(), time.Minute)
	a.cfg.Prober = &fakeProber{plain: gwMAC}
	a.Pass(context.Background())
	if g := a.AskGateway(context.Background()); !g.Reachable {
		t.Fatalf("gateway %+v", g)
	}
	k.links = k.links[:2]
	a.Pass(context.Background())
	a.AskGateway(context.Background())
	if g := a.Status().Gateway; g.Known {
		t.Errorf("still known without a link: %+v", g)
	}
}

func TestNoLinkNoGateway(t *testing.T) {
	k := newNode()
	k.links = k.links[:2]
	a, _ := newAgent(t, k, testSettings(), time.Minute)
	a.Pass(context.Background())
	if g := a.AskGateway(context.Background()); g.Known {
		t.Errorf("known without a link: %+v", g)
	}
	for _, p := range a.Status().Problems {
		if strings.Contains(p.Text, "gateway answers no") {
			t.Errorf("blames the gateway for a missing NIC: %v", p)
		}
	}
}
