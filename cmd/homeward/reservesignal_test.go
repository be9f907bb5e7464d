package main

import (
	"encoding/json"
	"net/http"
	"syscall"
	"testing"
	"time"

	"homeward/cmd/homeward/internal/reservation"
	"homeward/testenv/pvesim"
)

// A signal in the middle of a large pool leaves nothing behind, and the report is
// printed, although to give up takes longer than other commands are given.
func TestReserveThatIsInterruptedRollsBackAndReports(t *testing.T) {
	p := simulatedWith(t, pvesim.Options{Hook: func(r pvesim.Request) pvesim.Fault {
		if r.Method == http.MethodDelete {
			return pvesim.Fault{Delay: 100 * time.Millisecond}
		}
		return pvesim.Fault{}
	}})
	file := planFile(t, "203.0.113.0/25", "203.0.112.0/22", "gateway: 203.0.113.1", "gateway: 203.0.112.1",
		"203.0.113.75-203.0.113.78", "203.0.112.20-203.0.112.220")
	lab := newLabRun(t)
	cmd := lab.command("reserve", "-f", file, "-o", "json")
	done := make(chan result, 1)
	go func() { done <- finish(t, cmd) }()
	waitFor(t, "the claims", func() bool { return len(p.members()) >= 40 })
	if err := syscall.Kill(cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	got := <-done
	var report reservation.Report
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatalf("exit %d, %d addresses left, and no report: %v\n%s\n%s", got.code, len(p.members()), err, got.out, got.err)
	}
	p.wantMembers([]string{})
	// The request under way was waited for: nothing is unknown.
	if got.code != int(exitFailed) || report.Removed < 40 || len(report.Uncertain) > 0 {
		t.Errorf("exit %d: %s", got.code, got.out)
	}
}
