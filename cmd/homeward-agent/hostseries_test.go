package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/segment"
	"homeward/netplan"
)

// hostSeries are the series of a scrape of `host` that sees an address with a
// holder, sorted, with an asterisk for what differs from segment to segment.
func hostSeries(t *testing.T) []string {
	t.Helper()
	own, worker := netplan.MAC{2, 0, 0, 0, 0, 9}, netplan.MAC{2, 0, 0, 0, 0, 1}
	address := netip.MustParseAddr("203.0.113.75")
	at := time.Now()
	w := segment.NewWatch(segment.Config{Own: own, Targets: []segment.Target{{Address: address, Use: segment.UseIngress, Ours: true}}}, at)
	for answered := 0; answered < 2; {
		ask, next, _ := w.Step(at)
		if ask.IsValid() {
			answered++
			w.Frame(at, segment.ARP{Source: worker, Destination: own, Operation: segment.Reply, SenderMAC: worker, Sender: ask,
				TargetMAC: own, Target: netip.IPv4Unspecified()}.Append(nil))
		}
		at = next
	}
	watcher := &watcher{host: &host{log: slog.New(slog.NewTextHandler(io.Discard, nil))}, watch: w}
	r := httptest.NewRecorder()
	watcher.mux().ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	changing := regexp.MustCompile(`(version|address|use|mac|machine)="[^"]*"`)
	var out []string
	for line := range strings.Lines(r.Body.String()) {
		if end := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "#") {
			out = append(out, changing.ReplaceAllString(line[:end], `$1="*"`))
		}
	}
	slices.Sort(out)
	return out
}

// TestHostSeriesAreThoseOfTheAlerts holds the list by which the host's alerts and
// dashboard are checked.
func TestHostSeriesAreThoseOfTheAlerts(t *testing.T) {
	const golden = "monitoring/testdata/host_series.txt"
	got := strings.Join(hostSeries(t), "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("series (-want +got); run with -update, then the tests of monitoring:\n%s", diff)
	}
}
