package pvesim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/pvesim"
)

func TestParseFaults(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []string
		writes []string // the outcomes of three
		read   string
	}{
		{"none", nil, []string{"200 OK", "200 OK", "200 OK"}, "200 OK"},
		{"each write", []string{"lost-write"}, []string{"596 Connection timed out", "596 Connection timed out", "596 Connection timed out"}, "200 OK"},
		{"every second write", []string{"no-quorum:2"}, []string{"200 OK", "500 cfs-lock 'file-user_cfg' error: no quorum!", "200 OK"}, "200 OK"},
		{"reads too", []string{"unavailable"}, []string{"595 No route to host", "595 No route to host", "595 No route to host"}, "595 No route to host"},
		{"two", []string{"lock-timeout:3", "lost-answer"}, []string{"596 Connection timed out", "596 Connection timed out", "500 cfs-lock 'file-user_cfg' error: got lock request timeout"}, "200 OK"},
	} {
		t.Run(test.name, func(t *testing.T) {
			hook, err := pvesim.ParseFaults(test.faults)
			if err != nil {
				t.Fatal(err)
			}
			c := inProcess(t, newSim(t, pvesim.Options{Hook: hook}), "pve1")
			var got []string
			for _, pool := range []string{"p1", "p2", "p3"} {
				got = append(got, c.do("POST", "/pools", "poolid", pool).status)
			}
			if diff := cmp.Diff(test.writes, got); diff != "" {
				t.Error(diff)
			}
			if got := c.do("GET", "/pools").status; got != test.read {
				t.Errorf("a read: %s, want %s", got, test.read)
			}
		})
	}
	for _, faults := range []string{"", "flood", "no-quorum:", "no-quorum:0", "no-quorum:-1", "no-quorum:often", "no-quorum:2:3"} {
		if _, err := pvesim.ParseFaults([]string{faults}); err == nil {
			t.Errorf("%q is taken", faults)
		}
	}
}
