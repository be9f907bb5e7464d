package report_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/cmd/homeward/internal/report"
)

func TestMeasuredIsReadFromASummary(t *testing.T) {
	data, err := os.ReadFile("testdata/drill.json")
	if err != nil {
		t.Fatal(err)
	}
	f := factsOf(t)
	got, err := report.ParseMeasured("drill.json", data, f.Plan)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 11, 30, 18, 7, 43, 0, time.UTC)
	want := []report.Measurement{{
		File: "drill.json", Target: "203.0.113.75:443", Address: "203.0.113.75:443", Of: "an address of the pool",
		Start: start, Length: 12 * time.Second, Interval: 100 * time.Millisecond,
		Attempts: 120, Answered: 95, Failed: 25, Outages: 1, Longest: 2495 * time.Millisecond, Total: 2495 * time.Millisecond,
		P99: 5380 * time.Microsecond, OnLink: true,
		TakeOvers: []report.TakeOver{{Time: start.Add(7 * time.Second), From: "edge-worker-01", To: "02:00:00:00:00:99"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMeasuredRefusesWhatIsNoSummary(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"no JSON":     {"TARGET ANSWERED", "no summary"},
		"empty":       {"", "no summary"},
		"other JSON":  {`{"name": "edge"}`, "no interval_ns or no targets"},
		"a stream":    {`{"interval_ns":1,"targets":[{}]}` + "\n" + `{"event":"summary"}`, "not -o jsonl"},
		"wrong sum":   {`{"interval_ns":1,"targets":[{"attempts":3,"answered":1}]}`, "targets[0]: 1 answered, 0 failed and 0 unknown are not its 3 attempts"},
		"below zero":  {`{"interval_ns":1,"targets":[{"attempts":-1,"answered":-1}]}`, "below zero"},
		"wrong types": {`{"interval_ns":1,"targets":[{"attempts":"many"}]}`, "no summary"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := report.ParseMeasured("x.json", []byte(test.text), factsOf(t).Plan)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("it says %v, want %q", err, test.want)
			}
		})
	}
}

func FuzzParseMeasured(f *testing.F) {
	data, err := os.ReadFile("testdata/drill.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"interval_ns":1,"targets":[{"address":"x","mac_changes":[{}]}]}`))
	plan := factsOf(f).Plan
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := report.ParseMeasured("x", data, plan)
		if err == nil && len(list) == 0 {
			t.Error("neither a measurement nor an error")
		}
	})
}
