package proxmox

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
	"homeward/agent/ledger/inventory"
	"homeward/testenv/pvesim"
)

// crowd is a cluster of ten nodes and a thousand guests, a fifth of them on the
// segment.
func crowd(t testing.TB, times pvesim.Times) *lab {
	t.Helper()
	sim := simulate(t, pvesim.Options{Times: times})
	if err := sim.Change(func(st *pvesim.State) error {
		for n := 4; n <= 10; n++ {
			st.AddNode(fmt.Sprintf("pve%d", n))
		}
		for i := range 1000 {
			bridge := "vmbr1"
			if i%5 == 0 {
				bridge = "vmbr0"
			}
			g := pvesim.Guest{Kind: pvesim.QEMU, VMID: 1000 + i, Node: fmt.Sprintf("pve%d", i%10+1), Running: i%3 > 0, Agent: true, Config: map[string]string{
				"name": fmt.Sprintf("vm%d", i), "agent": "1",
				"net0": fmt.Sprintf("virtio=BC:24:11:00:%02X:%02X,bridge=%s,tag=1691,firewall=1", i/256, i%256, bridge),
			}}
			if i%4 == 0 {
				st.AddSet(pvesim.GuestScope(g.VMID), "ipfilter-net0", "", pvesim.Member{CIDR: fmt.Sprintf("10.%d.%d.1", i/256, i%256)})
			}
			if err := st.AddGuest(g); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return sim
}

// onSegment chooses the crowd's guests on vmbr0.
func onSegment(s *inventory.Snapshot) []int {
	var ids []int
	for _, g := range s.Guests {
		if strings.Contains(g.Config["net0"], "bridge=vmbr0") {
			ids = append(ids, g.VMID)
		}
	}
	return ids
}

// numbers and names in paths, to count requests by kind.
var particular = regexp.MustCompile(`/(pve[0-9]+|[0-9]+)(/|$)`)

// kinds counts the requests of a log.
func kinds(log []pvesim.Record) map[string]int {
	count := map[string]int{}
	for _, r := range log {
		path := particular.ReplaceAllString(r.Path, "/*$2")
		count[r.Method+" "+particular.ReplaceAllString(path, "/*$2")]++
	}
	return count
}

func TestRequestsOfAnInventory(t *testing.T) {
	sim := crowd(t, pvesim.Times{})
	s := read(t, sim.client("pve1"), ReadOptions{Live: true, Closer: onSegment})
	if len(s.Guests) != 1000 || len(s.Unread) > 0 {
		t.Fatalf("%d guests, unread %v", len(s.Guests), s.Unread)
	}
	want := map[string]int{
		"GET /access/permissions":                          1,
		"GET /nodes":                                       1,
		"GET /cluster/resources":                           1,
		"GET /cluster/sdn/zones":                           1,
		"GET /cluster/sdn/vnets":                           1,
		"GET /cluster/sdn/ipams/pve/status":                1,
		"GET /cluster/firewall/aliases":                    1,
		"GET /cluster/firewall/ipset":                      1,
		"GET /nodes/*/network":                             10,
		"GET /nodes/*/sdn/zones/localnetwork/bridges":      10,
		"GET /nodes/*/qemu/*/pending":                      1000,
		"GET /nodes/*/qemu/*/firewall/ipset":               200,
		"GET /nodes/*/qemu/*/firewall/ipset/ipfilter-net0": 50,
		"GET /nodes/*/qemu/*/agent/network-get-interfaces": 133,
	}
	if diff := cmp.Diff(want, kinds(sim.Log())); diff != "" {
		t.Error(diff)
	}
	if n := sim.MostInFlight(); n > DefaultInFlight {
		t.Errorf("%d requests in flight", n)
	}
}

// BenchmarkInventory reads 1,000 guests on 10 nodes with 20 ms latency.
func BenchmarkInventory(b *testing.B) {
	for _, live := range []bool{false, true} {
		b.Run(fmt.Sprintf("live=%v", live), func(b *testing.B) {
			sim := crowd(b, pvesim.Times{Latency: 20 * time.Millisecond})
			client := sim.client("pve1")
			sim.ClearLog()
			for b.Loop() {
				if _, err := Read(b.Context(), client, ReadOptions{Live: live, Closer: onSegment}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(sim.Log()))/float64(b.N), "requests/op")
			b.ReportMetric(float64(sim.MostInFlight()), "in-flight")
		})
	}
}

func TestRequestsOfAReservation(t *testing.T) {
	const n = 16
	var pool []string
	for i := range n {
		pool = append(pool, fmt.Sprintf("192.0.2.%d", 16+i))
	}
	for _, s := range stands()[:2] {
		t.Run(s.name, func(t *testing.T) {
			sim := simulate(t, pvesim.Options{})
			s.mustRun(t, sim.client("pve1"), alice, reserving(alice, pool...))
			count := kinds(sim.Log())
			t.Logf("%d addresses: %v", n, count)
			writes := 0
			for _, kind := range slices.Sorted(maps.Keys(count)) {
				if !strings.HasPrefix(kind, "GET") {
					writes += count[kind]
				}
			}
			// The record, and each address twice: pending, then held.
			if writes != 1+2*n {
				t.Errorf("%d writes", writes)
			}
		})
	}
}

// BenchmarkReservation reserves a /24 serially at the server's own pace.
func BenchmarkReservation(b *testing.B) {
	var pool []string
	for i := 1; i < 255; i++ {
		pool = append(pool, fmt.Sprintf("192.0.2.%d", i))
	}
	s := stands()[0]
	sim := simulate(b, pvesim.Options{Times: pvesim.Times{Write: 95 * time.Millisecond}})
	client := sim.client("pve1")
	begin := sim.State()
	sim.ClearLog()
	for b.Loop() {
		sim.SetState(begin)
		d := ledger.Driver{Book: s.open(b, client, alice), Sleep: ledger.Sleep, Grace: time.Second}
		if r := d.Run(b.Context(), reserving(alice, pool...)(b)); r.Outcome != ledger.Done {
			b.Fatal(r.Outcome, r.Err)
		}
	}
	b.ReportMetric(float64(len(sim.Log()))/float64(b.N), "requests/op")
}
