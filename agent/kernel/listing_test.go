//go:build linux

package kernel

import (
	"context"
	"os/exec"
	"regexp"
	"testing"

	"homeward/agent/returnpath"
	"homeward/netplan"

	"github.com/google/go-cmp/cmp"
)

func TestListingFindsEveryChange(t *testing.T) {
	k := newKernel(t)
	ctx := context.Background()
	tests := []struct {
		name string
		nft  []string
	}{
		{"an element more", []string{"add element inet homeward ingress4 { 203.0.113.90 }"}},
		{"an element less", []string{"delete element inet homeward ingress4 { 203.0.113.75-203.0.113.79 }"}},
		{"a rule more", []string{"add rule inet homeward output counter"}},
		{"a rule in front", []string{"insert rule inet homeward prerouting accept"}},
		{"all rules of a chain gone", []string{"flush chain inet homeward prerouting"}},
		{"a chain gone", []string{"flush chain inet homeward output", "delete chain inet homeward output"}},
		{"a chain more", []string{"add chain inet homeward extra"}},
		{"a set more", []string{"add set inet homeward extra { type ipv4_addr; }"}},
		{"a counter object more", []string{"add counter inet homeward extra"}},
		{"dormant", []string{"add table inet homeward { flags dormant; }"}},
		{"another policy", []string{"add chain inet homeward prerouting { policy drop; }"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cleanTable(t, k)
			m := oneTable(t)
			if err := k.ReplaceMarkTable(ctx, m, testStamp, netplan.Counters{}); err != nil {
				t.Fatal(err)
			}
			for _, line := range tt.nft {
				run(t, "nft", line)
			}
			got, err := k.MarkTable(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if cmp.Equal(returnpath.Objects(m), got.Objects) {
				t.Fatal("the listing shows no difference")
			}
			if err := k.ReplaceMarkTable(ctx, m, testStamp, got.Counters); err != nil {
				t.Fatal(err)
			}
			if got, err = k.MarkTable(ctx); err != nil || !cmp.Equal(returnpath.Objects(m), got.Objects) {
				t.Errorf("after the repair: %v, %v", got.Objects, err)
			}
		})
	}
}

func TestOneRuleOfOursDeleted(t *testing.T) {
	k := newKernel(t)
	cleanTable(t, k)
	ctx := context.Background()
	m := oneTable(t)
	if err := k.ReplaceMarkTable(ctx, m, testStamp, netplan.Counters{}); err != nil {
		t.Fatal(err)
	}
	handles := regexp.MustCompile(`counter.*# handle (\d+)`).FindAllStringSubmatch(run(t, "nft", "-a", "list", "table", "inet", "homeward"), -1)
	if len(handles) != 3 {
		t.Fatalf("%d rules", len(handles))
	}
	run(t, "nft", "delete", "rule", "inet", "homeward", "prerouting", "handle", handles[0][1])
	got, err := k.MarkTable(ctx)
	if err != nil || got.Interface != "" || len(got.Objects) != len(returnpath.Objects(m))-1 {
		t.Errorf("listing %+v, error %v", got, err)
	}
	if got.Stamp == nil || *got.Stamp != testStamp {
		t.Errorf("the stamp went with the rule: %v", got.Stamp)
	}
}

func TestCountersSurviveReplacement(t *testing.T) {
	k := newKernel(t)
	cleanTable(t, k)
	ctx := context.Background()
	want := netplan.Counters{
		Marked: netplan.Counter{Packets: 1, Bytes: 100}, Forwarded: netplan.Counter{Packets: 2, Bytes: 200},
		Local: netplan.Counter{Packets: 1 << 40, Bytes: 1 << 50},
	}
	if err := k.ReplaceMarkTable(ctx, oneTable(t), testStamp, want); err != nil {
		t.Fatal(err)
	}
	got, err := k.MarkTable(ctx)
	if err != nil || got.Counters != want {
		t.Errorf("counters %+v, error %v", got.Counters, err)
	}
}

func TestDeletingTwiceIsNoError(t *testing.T) {
	k := newKernel(t)
	ctx := context.Background()
	if err := k.ReplaceMarkTable(ctx, oneTable(t), testStamp, netplan.Counters{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := k.DeleteMarkTable(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := k.MarkTable(ctx); err != nil || got.Present {
		t.Errorf("present %v, error %v", got.Present, err)
	}
}

func TestLegacyTable(t *testing.T) {
	k := newKernel(t)
	ctx := context.Background()
	if has, err := k.HasLegacyTable(ctx); has || err != nil {
		t.Fatalf("has %v, error %v", has, err)
	}
	run(t, "nft", "add", "table", "ip", netplan.LegacyNFTablesTable)
	if has, err := k.HasLegacyTable(ctx); !has || err != nil {
		t.Fatalf("has %v, error %v", has, err)
	}
	for range 2 {
		if err := k.DeleteLegacyTable(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if has, _ := k.HasLegacyTable(ctx); has {
		t.Error("still there")
	}
}

func TestEndedContextDoesNothing(t *testing.T) {
	k := newKernel(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := k.ReplaceMarkTable(ctx, oneTable(t), testStamp, netplan.Counters{}); err == nil {
		t.Error("wrote after the context had ended")
	}
	if out, err := exec.Command("nft", "list", "tables").Output(); err != nil || len(out) > 0 {
		t.Errorf("tables %q, error %v", out, err)
	}
}
