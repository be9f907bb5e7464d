package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asTool makes the test binary be the tool, so that a benchmark can read the peak
// memory of a process of its own. With asMain it is the tool with its output and
// its signals.
const (
	asTool = "HOMEWARD_TEST_AS_TOOL"
	asMain = "HOMEWARD_TEST_AS_MAIN"
)

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
	}
	if os.Getenv(asTool) != "" {
		code := run(context.Background(), os.Args[1:], streams{in: os.Stdin, out: io.Discard, err: io.Discard})
		status, _ := os.ReadFile("/proc/self/status") // empty is refused by the reader
		os.Stdout.Write(status)
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// largePlan is a plan of n machines with a /16 pool.
func largePlan(b *testing.B, n int) string {
	return planFile(b, "worker: {count: 3}", fmt.Sprintf("worker: {count: %d}", n-3),
		"10.0.0.0/24", "10.0.0.0/16", "203.0.113.0/25", "100.64.0.0/15", "gateway: 203.0.113.1", "gateway: 100.64.0.1",
		"169.254.32.0/20", "169.254.0.0/16", "203.0.113.79", "100.64.0.2", "203.0.113.75-203.0.113.78", "100.65.0.0/16",
		"{version: v1.36.3}", "{version: v1.36.3, cni: none}")
}

func benchmarkCommand(b *testing.B, args func(b *testing.B, plan string) []string) {
	for _, n := range []int{10, 100, 1000, 5000} {
		b.Run(fmt.Sprintf("machines=%d", n), func(b *testing.B) {
			plan := largePlan(b, n)
			peak := peakMemory(b, args(b, plan))
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				if got := homeward(b, args(b, plan)...); got.code != 0 {
					b.Fatal(got.err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/machine")
			b.ReportMetric(peak, "MB-peak")
		})
	}
}

// peakMemory runs one command in a process of its own and gives the most memory
// that was resident, in MB (10^6 bytes).
func peakMemory(b *testing.B, args []string) float64 {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asTool+"=1")
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	_, rest, _ := strings.Cut(string(out), "VmHWM:")
	var kib float64
	if _, err := fmt.Sscanf(rest, "%f kB", &kib); err != nil {
		b.Fatalf("reading the peak memory: %v", err)
	}
	return kib * 1024 / 1e6
}

func BenchmarkPlan(b *testing.B) {
	benchmarkCommand(b, func(_ *testing.B, plan string) []string { return []string{"plan", "-f", plan, "-o", "json"} })
}

// BenchmarkGenerate writes a whole new tree each time.
func BenchmarkGenerate(b *testing.B) {
	benchmarkCommand(b, func(b *testing.B, plan string) []string {
		dir, err := os.MkdirTemp(b.TempDir(), "out")
		if err != nil {
			b.Fatal(err)
		}
		return []string{"generate", "-f", plan, "--out", filepath.Join(dir, "out")}
	})
}

// BenchmarkGenerateAgain writes the same tree again: nothing changes.
func BenchmarkGenerateAgain(b *testing.B) {
	benchmarkCommand(b, func(_ *testing.B, plan string) []string {
		return []string{"generate", "-f", plan, "--out", filepath.Join(filepath.Dir(plan), "out")}
	})
}
