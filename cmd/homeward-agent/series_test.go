package main

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/returnpath"
	"homeward/netplan"
)

var update = flag.Bool("update", false, "write the golden files anew")

// quietNode is a node with the external link and nothing else to tell of. A pass
// asks for no more than what it overrides.
type quietNode struct {
	returnpath.Kernel
	link netplan.Link
}

func (q quietNode) Links(context.Context) ([]netplan.Link, error) {
	return []netplan.Link{q.link}, nil
}
func (quietNode) Rules(context.Context) ([]netplan.Rule, error) { return nil, nil }
func (quietNode) Routes(context.Context, netplan.TableID) ([]netplan.Route, error) {
	return nil, nil
}
func (quietNode) MarkTable(context.Context) (netplan.TableListing, error) {
	return netplan.TableListing{}, nil
}
func (quietNode) ReplaceMarkTable(context.Context, netplan.MarkTable, netplan.Stamp, netplan.Counters) error {
	return nil
}
func (quietNode) ReversePath(context.Context, netplan.Link) (netplan.ReversePath, error) {
	return netplan.ReversePath{}, nil
}
func (quietNode) IPv6Default(context.Context, netplan.Link) (netip.Addr, bool, error) {
	return netip.Addr{}, false, nil
}
func (quietNode) Addresses(context.Context, netplan.Link) ([]netip.Addr, error) { return nil, nil }
func (quietNode) Neighbour(context.Context, netplan.Link, netip.Addr) (netplan.Neighbour, error) {
	return netplan.Neighbour{}, nil
}
func (quietNode) HasLegacyTable(context.Context) (bool, error) { return false, nil }

// silence is a gateway that never answers.
type silence struct{}

func (silence) Ask(context.Context, netplan.Link, netip.Addr, netip.Addr) (netplan.MAC, error) {
	return netplan.MAC{}, nil
}

// TestSeriesAreThoseOfTheAlerts holds the list by which the alerts and the
// dashboard are checked against what an agent serves that has seen its NIC and
// asked its gateway, which is when it serves most.
func TestSeriesAreThoseOfTheAlerts(t *testing.T) {
	const golden = "monitoring/testdata/series.txt"
	got := strings.Join(servedSeries(t), "\n") + "\n"
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

// servedSeries are the series of a scrape, sorted, with an asterisk for label
// values that differ from build to build.
func servedSeries(t *testing.T) []string {
	t.Helper()
	node := quietNode{link: netplan.Link{Index: 2, Name: "ext0", MAC: netplan.MAC{2, 0, 0, 0, 0, 1}, Up: true}}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	agent := returnpath.New(returnpath.Config{
		Settings: returnpath.Settings{
			ExternalMAC: node.link.MAC, Mark: netplan.DefaultMark, Mask: netplan.DefaultMask, Table: netplan.DefaultTable,
			CIDR: netip.MustParsePrefix("203.0.113.0/24"), Gateway: netip.MustParseAddr("203.0.113.1"),
			Priorities: netplan.PrioritiesAt(netplan.DefaultPriority),
		},
		Kernel: node, Prober: silence{}, Clock: returnpath.SystemClock{Start: time.Now()}, Log: log, Resync: time.Minute,
	})
	agent.Pass(context.Background())
	if g := agent.AskGateway(context.Background()); !g.Known {
		t.Fatal("the gateway was not asked, so that its metrics are missing here")
	}
	code, page := fetch(handlers{agent: agent, kernel: node, log: log}.mux(false), "/metrics")
	if code != http.StatusOK {
		t.Fatalf("scraping: %d %s", code, page)
	}
	changing := regexp.MustCompile(`(version|digest)="[^"]*"`)
	var out []string
	for line := range strings.Lines(page) {
		if end := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "#") {
			out = append(out, changing.ReplaceAllString(line[:end], `$1="*"`))
		}
	}
	slices.Sort(out)
	return out
}
