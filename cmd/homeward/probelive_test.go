package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/probe"
)

func TestLiveView(t *testing.T) {
	up := probe.State{Target: "203.0.113.75:443", Up: true, Attempts: 120, Answered: 118, Last: 1234 * time.Microsecond, OutageCount: 1, OutageLongest: 210 * time.Millisecond, MAC: "02:00:00:00:0e:01"}
	down := probe.State{Target: "203.0.113.76:443", Down: true, Cause: probe.CauseTimeout, Attempts: 120, Answered: 100, Unknown: 3, OutageCount: 1, OutageLongest: 2 * time.Second, DownFor: 2 * time.Second}
	for _, c := range []struct {
		name    string
		states  []probe.State
		columns int
		want    []string
	}{
		{"one target", []probe.State{up}, 120, []string{
			"12s  Ctrl-C ends with the summary",
			"203.0.113.75:443  up 1.23ms  118 of 120 answered  1 outage of 200ms  02:00:00:00:0e:01",
		}},
		{"what is down comes first", []probe.State{up, down}, 120, []string{
			"12s  2 targets, 1 down  Ctrl-C ends with the summary",
			"203.0.113.76:443  DOWN for 2s (timeout)  100 of 120 answered  1 outage of 2s     3 unknown",
			"203.0.113.75:443  up 1.23ms              118 of 120 answered  1 outage of 200ms  02:00:00:00:0e:01",
		}},
		{"a narrow terminal", []probe.State{{Target: "203.0.113.75:443"}}, 30, []string{
			"12s  Ctrl-C ends with the sum",
			"203.0.113.75:443  waiting  0 ",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, liveLines(c.states, 12*time.Second, c.columns)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	many := make([]probe.State, 1000)
	for i := range many {
		many[i] = probe.State{Target: fmt.Sprintf("10.0.0.%d:80", i), Up: true}
	}
	if got := liveLines(many, 0, 80); len(got) != liveRows+2 || got[len(got)-1] != "and 990 more" {
		t.Errorf("1,000 targets:\n%s", strings.Join(got, "\n"))
	}
}

func TestOnlyTerminalsAreDrawnOn(t *testing.T) {
	if _, ok := terminalWidth(&bytes.Buffer{}); ok {
		t.Error("a buffer is a terminal")
	}
}
