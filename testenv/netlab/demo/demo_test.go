//go:build linux

package demo

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/netlab"
)

func TestMain(m *testing.M) { netlab.Main(m) }

// keeper is a stand-in for the agent: it marks in both hooks, looks often, and
// removes nothing.
func keeper() Program {
	const script = `
while :; do
	nft list table inet homeward >/dev/null 2>&1 || nft -f - <<RULES
table inet homeward {
	chain prerouting {
		type filter hook prerouting priority -150; policy accept;
		iifname "ens19" ip daddr 203.0.113.74-203.0.113.79 ct direction original ct mark set ct mark or 0x2000
		ct direction reply ct mark and 0x2000 == 0x2000 meta mark set meta mark or 0x2000
	}
	chain output {
		type route hook output priority -150; policy accept;
		ct direction reply ct mark and 0x2000 == 0x2000 meta mark set meta mark or 0x2000
	}
}
RULES
	sleep 0.02
done`
	return Program{
		Name:    "keeper",
		Command: func(*netlab.Node) []string { return []string{"sh", "-eu", "-c", script} },
		Needs:   []string{"sh", "nft", "sleep"},
		Steered: true,
	}
}

func TestRun(t *testing.T) {
	netlab.Require(t)
	absent := Program{Name: "absent", Needs: []string{"no-such-program"}}
	report, err := Run(t.Context(), Options{
		Contenders: []Program{Nothing(), shellEvery(1), keeper(), absent},
		Progress:   func(step string) { t.Log(step) },
		Patience:   20 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := report.WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + text.String())
	nothing, shell, keeper := report.Contenders[0], report.Contenders[1], report.Contenders[2]
	for name, want := range map[string]struct {
		got  ContenderReport
		lost func(netlab.Cell) bool
	}{
		"nothing": {nothing, func(netlab.Cell) bool { return true }},
		"shell":   {shell, func(c netlab.Cell) bool { return c.Backend == netlab.HostHere }},
		"keeper":  {keeper, func(netlab.Cell) bool { return false }},
	} {
		if len(want.got.Cells) != 24 {
			t.Errorf("%s: %d cells, want 24", name, len(want.got.Cells))
		}
		for _, c := range want.got.Cells {
			if c.Answered == want.lost(c) {
				t.Errorf("%s: %s: answered %v", name, c, c.Answered)
			}
		}
	}
	if nothing.Spoofed == 0 || keeper.Spoofed != 0 {
		t.Errorf("spoofed packets: %d without a return path, %d with one", nothing.Spoofed, keeper.Spoofed)
	}
	if len(shell.Faults) != 3 || len(keeper.Faults) != 3 {
		t.Fatalf("faults: %d and %d, want 3 each", len(shell.Faults), len(keeper.Faults))
	}
	// Killed, both leave their rules; stopped, the shell loop takes them along.
	for i, want := range []bool{true, false, true} {
		if got := shell.Faults[i].Load.Lost > 0; got != want {
			t.Errorf("shell loop, %s: lost %v, want %v: %+v", shell.Faults[i].Fault, got, want, shell.Faults[i])
		}
	}
	for _, f := range keeper.Faults[1:] {
		if f.Load.Lost > 0 || !f.Repaired {
			t.Errorf("keeper, %s: %+v", f.Fault, f)
		}
	}
	if report.Contenders[3].Skipped == "" || !strings.Contains(text.String(), "no-such-program") {
		t.Error("the contender that cannot run is not named as skipped")
	}
	roundTrip(t, report)
}

func roundTrip(t *testing.T, report *Report) {
	t.Helper()
	b, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(b), string(again)); diff != "" {
		t.Errorf("JSON does not read back (-first +second):\n%s", diff)
	}
}

func TestMatrixLines(t *testing.T) {
	cell := func(p netlab.Policy, protocol netlab.Protocol, ok bool) netlab.Cell {
		c := netlab.Cell{Backend: netlab.HostHere, Policy: p, Client: netlab.ClientBehind, Protocol: protocol, Answered: ok, Path: netlab.PathPrivate}
		if ok {
			c.Path = netlab.PathExternal
		}
		return c
	}
	lines := func(oks ...bool) []string {
		r := ContenderReport{Name: "x", Cells: []netlab.Cell{
			cell(netlab.PolicyCluster, netlab.TCP, oks[0]), cell(netlab.PolicyCluster, netlab.UDP, oks[1]),
			cell(netlab.PolicyLocal, netlab.TCP, oks[2]), cell(netlab.PolicyLocal, netlab.UDP, oks[3]),
		}}
		var got []string
		for _, l := range matrixLines([]ContenderReport{r}) {
			got = append(got, join(l.policies)+" / "+join(l.protocols)+" / "+l.verdicts[0])
		}
		return got
	}
	tests := map[string]struct{ got, want []string }{
		"all alike": {lines(true, true, true, true), []string{"Cluster, Local / tcp, udp / ok (left by external)"}},
		"by protocol": {lines(true, false, true, false), []string{
			"Cluster, Local / tcp / ok (left by external)", "Cluster, Local / udp / LOST (left by private)",
		}},
		"one apart": {lines(true, true, true, false), []string{
			"Cluster / tcp, udp / ok (left by external)", "Local / tcp / ok (left by external)", "Local / udp / LOST (left by private)",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}
