//go:build linux

package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"homeward/agent/kernel"
	"homeward/agent/returnpath"
	"homeward/netplan"
)

// lister is a table that a scrape finds.
type lister struct {
	listing netplan.TableListing
	err     error
}

func (l lister) MarkTable(context.Context) (netplan.TableListing, error) { return l.listing, l.err }

func newHandlers(l lister) handlers {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	agent := returnpath.New(returnpath.Config{
		Settings: returnpath.Settings{}, Kernel: kernel.New(log), Prober: kernel.Prober{},
		Clock: returnpath.SystemClock{Start: time.Now()}, Log: log, Resync: time.Minute,
	})
	return handlers{agent: agent, kernel: l, log: log}
}

func fetch(h http.Handler, path string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

func TestPathsBeforeTheFirstPass(t *testing.T) {
	h := newHandlers(lister{})
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/state": 200, "/metrics": 200, "/": 404, "/debug/pprof/": 404} {
		if code, body := fetch(h.mux(true), path); code != want {
			t.Errorf("%s: %d, want %d: %s", path, code, want, body)
		}
	}
	if code, body := fetch(h.mux(true), "/state"); code != 200 || !strings.Contains(body, `"problems": []`) {
		t.Errorf("/state: %s", body)
	}
}

func TestTheNetworkSeesOnlyMetrics(t *testing.T) {
	h := newHandlers(lister{})
	for path, want := range map[string]int{"/healthz": 404, "/readyz": 404, "/state": 404, "/metrics": 200} {
		if code, _ := fetch(h.mux(false), path); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
}

func TestMetrics(t *testing.T) {
	c := netplan.Counters{Marked: netplan.Counter{Packets: 3, Bytes: 300}, Forwarded: netplan.Counter{Packets: 2}, Local: netplan.Counter{Bytes: 7}}
	h := newHandlers(lister{listing: netplan.TableListing{Present: true, Counters: c}})
	want := `
# HELP homeward_marked_bytes_total Bytes of those packets.
# TYPE homeward_marked_bytes_total counter
homeward_marked_bytes_total 300
# HELP homeward_marked_packets_total Original packets for the destinations that came in by the external NIC.
# TYPE homeward_marked_packets_total counter
homeward_marked_packets_total 3
# HELP homeward_restored_packets_total Reply packets that were sent home: of backends elsewhere (forwarded) and in the node's own network (local).
# TYPE homeward_restored_packets_total counter
homeward_restored_packets_total{path="forwarded"} 2
homeward_restored_packets_total{path="local"} 0
`
	r := registry(h.agent, h.kernel)
	if err := testutil.GatherAndCompare(r, strings.NewReader(want), "homeward_marked_bytes_total", "homeward_marked_packets_total", "homeward_restored_packets_total"); err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(r)
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
	_, body := fetch(h.mux(true), "/metrics")
	for _, name := range []string{
		"homeward_build_info{", "homeward_ready 0", "homeward_uplink_present 0", "homeward_passes_total 0", "homeward_failed_passes_total 0",
		"homeward_pass_duration_seconds ", `homeward_repairs_total{kind="nft_table"} 0`, `homeward_problem{blocking="true",kind="rp_filter"} 0`, `homeward_problem{blocking="false",kind="rp_filter"} 0`,
		"homeward_resync_seconds 60", `routes="check",vip="false"} 1`,
		"homeward_restored_bytes_total{", "process_resident_memory_bytes ",
	} {
		if !strings.Contains(body, name) {
			t.Errorf("no %s in\n%s", name, body)
		}
	}
	if strings.Contains(body, "homeward_gateway_reachable ") {
		t.Error("a gateway that was never asked is reported")
	}
}

func TestAScrapeOutlivesAKernelThatDoesNotAnswer(t *testing.T) {
	h := newHandlers(lister{err: errors.New("no")})
	if code, body := fetch(h.mux(true), "/metrics"); code != 200 || !strings.Contains(body, "homeward_marked_packets_total 0") {
		t.Errorf("%d: %s", code, body)
	}
}

// TestServeWaitsForItsAddress holds that an address that is taken, or not there
// yet, is served as soon as it can be.
func TestServeWaitsForItsAddress(t *testing.T) {
	taken := httptest.NewServer(http.NotFoundHandler())
	address := netip.MustParseAddrPort(strings.TrimPrefix(taken.URL, "http://"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	serve(ctx, []netip.AddrPort{address}, newHandlers(lister{}))
	time.Sleep(50 * time.Millisecond)
	taken.Close()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		r, err := http.Get("http://" + address.String() + "/healthz")
		if err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(end) {
			t.Fatalf("never served: %v", err)
		}
	}
	cancel()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := http.Get("http://" + address.String() + "/healthz"); err != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("still serving after its context ended")
		}
	}
}
