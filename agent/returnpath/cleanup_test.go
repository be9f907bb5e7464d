package returnpath

import (
	"context"
	"net/netip"
	"testing"

	"homeward/netplan"

	"github.com/google/go-cmp/cmp"
)

func legacyNode(t *testing.T) *fakeKernel {
	t.Helper()
	k, _ := converged(t, testSettings())
	everywhere := netip.MustParsePrefix("0.0.0.0/0")
	k.legacy = true
	k.rules = append(k.rules,
		netplan.Rule{Priority: 1001, Source: everywhere, Mark: 0x2000, Mask: 0xffffffff, Action: netplan.ActionLookup, Table: 100, Protocol: 3})
	k.routes = append(k.routes,
		netplan.Route{Table: 100, Destination: everywhere, Gateway: netip.MustParseAddr("203.0.113.1"), Link: 3, Scope: netplan.ScopeGlobal, Protocol: 3})
	return k
}

func TestCleanup(t *testing.T) {
	tests := []struct {
		name          string
		options       CleanupOptions
		spoil         func(*fakeKernel)
		removed       int
		rules, routes int
		legacy        bool
	}{
		{"only the table", CleanupOptions{}, nil, 1, 6, 4, true},
		{"managed too", CleanupOptions{Managed: true}, nil, 1 + 4 + 2, 2, 2, true},
		{"the earlier scheme too", CleanupOptions{Legacy: true}, nil, 1 + 3, 5, 3, false},
		{"the earlier scheme's table in use by others", CleanupOptions{Legacy: true}, func(k *fakeKernel) {
			k.rules = append(k.rules, netplan.Rule{Priority: 40, Source: netip.MustParsePrefix("10.9.0.0/16"), Action: netplan.ActionLookup, Table: 100})
		}, 1 + 2, 6, 4, false},
		{"no earlier scheme, its table in use by others", CleanupOptions{Legacy: true}, func(k *fakeKernel) {
			k.legacy, k.rules = false, k.rules[:5]
		}, 1, 5, 4, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := legacyNode(t)
			if tt.spoil != nil {
				tt.spoil(k)
			}
			removed, err := Cleanup(context.Background(), k, tt.options)
			if err != nil || len(removed) != tt.removed {
				t.Errorf("removed %q, error %v; want %d things", removed, err, tt.removed)
			}
			if len(k.rules) != tt.rules || len(k.routes) != tt.routes || k.legacy != tt.legacy || k.table.Present {
				t.Errorf("left: table %v, legacy %v, rules %v, routes %v", k.table.Present, k.legacy, k.rules, k.routes)
			}
			again, err := Cleanup(context.Background(), k, tt.options)
			if err != nil || len(again) > 0 {
				t.Errorf("second time: removed %q, error %v", again, err)
			}
		})
	}
}

func TestCleanupGoesOnAfterAFailure(t *testing.T) {
	k, _ := converged(t, testSettings())
	k.broken["table"] = true
	removed, err := Cleanup(context.Background(), k, CleanupOptions{Managed: true})
	if err == nil || len(removed) != 6 {
		t.Errorf("removed %q, error %v", removed, err)
	}
	if diff := cmp.Diff(1, len(k.rules)); diff != "" {
		t.Errorf("rules left: %v", k.rules)
	}
}
