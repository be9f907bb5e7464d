package timeline

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/probe"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var start = time.Date(2026, 11, 30, 14, 3, 5, 0, time.UTC)

// target makes one that answers in about a millisecond, but for its outages.
func target(name string, length time.Duration, outages ...probe.Outage) probe.TargetSummary {
	t := probe.TargetSummary{Target: name, Timeline: &probe.Timeline{Width: 100 * time.Millisecond}, Outages: outages}
	for at := time.Duration(0); at < length; at += t.Timeline.Width {
		took := 800*time.Microsecond + time.Duration(at/t.Timeline.Width*7919%900)*time.Microsecond
		bin := probe.Bin{Answered: 1, Fastest: took, Slowest: took}
		for _, o := range outages {
			if from := o.Start.Sub(start); at >= from && at < from+o.Length {
				bin = probe.Bin{Failed: 1}
			}
		}
		t.Attempts++
		t.Answered += int64(bin.Answered)
		t.Timeline.Bins = append(t.Timeline.Bins, bin)
	}
	for _, o := range outages {
		t.OutageCount++
		t.OutageLongest = max(t.OutageLongest, o.Length)
	}
	if t.Answered == 0 {
		return t
	}
	t.Connect = &probe.Latency{Count: t.Answered, P50: 1240 * time.Microsecond, P99: 1680 * time.Microsecond}
	return t
}

func outage(from, length time.Duration) probe.Outage {
	return probe.Outage{Start: start.Add(from), End: start.Add(from + length), Length: length, State: probe.OutageOver}
}

func summary(length time.Duration, targets ...probe.TargetSummary) *probe.Summary {
	return &probe.Summary{Mode: probe.ModeTCP, Interval: 100 * time.Millisecond, Start: start, Length: length, Targets: targets}
}

// drill has a take-over, two outages close together, one that is open, and a time
// away.
func drill() *probe.Summary {
	const length = 30 * time.Second
	pool := target("203.0.113.75:443", length, outage(8*time.Second, 3200*time.Millisecond), outage(11500*time.Millisecond, 400*time.Millisecond), outage(22*time.Second, 700*time.Millisecond))
	pool.MACChanges = []probe.MACChange{
		{Time: start.Add(11200 * time.Millisecond), Interface: "eth1", From: "02:00:00:00:0e:01", To: "02:00:00:00:0e:02"},
		{Time: start.Add(22700 * time.Millisecond), Interface: "eth1", From: "02:00:00:00:0e:02", To: "02:00:00:00:0e:01"},
	}
	open := outage(25*time.Second, 5*time.Second)
	open.State = probe.OutageOpen
	s := summary(length, pool, target("203.0.113.79:6443", length, open))
	s.Away = []probe.Away{{Start: start.Add(15 * time.Second), Length: 2 * time.Second}}
	for _, t := range s.Targets {
		clear(t.Timeline.Bins[150:170])
	}
	return s
}

// many is more targets than have a panel, and more than have a line.
func many() *probe.Summary {
	const length = 5 * time.Minute
	var list []probe.TargetSummary
	for i := range maxLines + 10 {
		t := target(fmt.Sprintf("10.0.%d.%d:443", i/8, i), length)
		if i%9 == 4 {
			t = target(t.Target, length, outage(time.Duration(i)*4*time.Second, time.Duration(i)*300*time.Millisecond))
		}
		list = append(list, t)
	}
	return summary(length, list...)
}

func TestDrawing(t *testing.T) {
	for name, s := range map[string]*probe.Summary{
		"drill":  drill(),
		"many":   many(),
		"brief":  summary(250*time.Millisecond, target("a.example:1", 250*time.Millisecond)),
		"silent": summary(10*time.Second, target("203.0.113.75:443", 10*time.Second, outage(0, 10*time.Second))),
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := (Drawing{s}).Write(&b); err != nil {
				t.Fatal(err)
			}
			wellFormed(t, b.Bytes())
			path := filepath.Join("testdata", name+".svg")
			if *update {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("%s differs (-want +got); go test -update rewrites it:\n%s", path, diff)
			}
		})
	}
}

func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	for dec := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestHostileNamesStayText(t *testing.T) {
	var b bytes.Buffer
	s := summary(time.Second, target(`<script>alert("x")</script>&:1`, time.Second))
	if err := (Drawing{s}).Write(&b); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, b.Bytes())
	if strings.Contains(b.String(), "<script") {
		t.Error("a name became an element")
	}
}

func TestTicks(t *testing.T) {
	for at, want := range map[time.Duration]string{
		0: "0", 200 * time.Millisecond: "200 ms", 1500 * time.Millisecond: "1.5 s", 90 * time.Second: "90 s", time.Minute: "1 min",
		2*time.Minute + 30*time.Second: "2:30 min", 90 * time.Minute: "90 min", time.Hour: "1 h", 150 * time.Minute: "2:30 h", 72 * time.Hour: "72 h",
	} {
		if got := tick(at); got != want {
			t.Errorf("%v is %q, want %q", at, got, want)
		}
	}
	for _, length := range []time.Duration{2 * time.Millisecond, 37 * time.Millisecond, time.Second, 61 * time.Second, time.Hour, 25 * time.Hour, 9 * 24 * time.Hour, 400 * 24 * time.Hour} {
		a := timeAxis{length: length}
		if n := length / a.step(); n < 2 || n > 10 {
			t.Errorf("%v has %d steps of %v", length, n, a.step())
		}
	}
	for power, want := range map[int]string{-6: "1 µs", -5: "10 µs", -4: "100 µs", -3: "1 ms", -1: "100 ms", 0: "1 s", 2: "100 s"} {
		if got := decade(power); got != want {
			t.Errorf("10^%d s is %q, want %q", power, got, want)
		}
	}
}
