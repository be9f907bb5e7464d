//go:build linux

package kernel

import (
	"context"
	_ "embed"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"homeward/agent/returnpath"
	"homeward/netplan"

	"github.com/google/go-cmp/cmp"
)

// nftText is the table of the package's documentation, as the nft pod loads it.
const nftText = `table inet homeward {
	set ingress4 { type ipv4_addr; flags interval; elements = { %s } }
	chain prerouting {
		type filter hook prerouting priority -149; policy accept;
		iifname "%s" ip daddr @ingress4 ct direction original counter ct mark set ct mark or %[3]s
		ct direction original ct mark and %[4]s == %[3]s meta mark set meta mark and %[5]s
		ct direction reply ct mark and %[4]s == %[3]s counter meta mark set meta mark or %[3]s
	}
	chain output {
		type route hook output priority -149; policy accept;
		ct direction reply ct mark and %[4]s == %[3]s counter meta mark set meta mark or %[3]s
	}
}
`

func ranges(t testing.TB, texts ...string) netplan.AddressSet {
	t.Helper()
	var out netplan.AddressSet
	for _, s := range texts {
		r, err := netplan.ParseRange(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out.Merged()
}

func oneTable(t testing.TB) netplan.MarkTable {
	return netplan.MarkTable{Interface: "ens19", Destinations: ranges(t, "203.0.113.75-203.0.113.79"), Mark: 0x2000, Mask: 0x2000}
}

// loadByNFT loads the table as the nft pod does.
func loadByNFT(t *testing.T, m netplan.MarkTable) {
	t.Helper()
	var elements []string
	for _, r := range m.Destinations {
		elements = append(elements, r.String())
	}
	text := fmt.Sprintf(nftText, strings.Join(elements, ", "), m.Interface, m.Mark, m.Mask, ^m.Mark)
	file := filepath.Join(t.TempDir(), "table.nft")
	if err := os.WriteFile(file, []byte("add table inet homeward\ndelete table inet homeward\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "nft", "-f", file)
}

func cleanTable(t *testing.T, k *Kernel) {
	t.Helper()
	t.Cleanup(func() {
		if err := k.DeleteMarkTable(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

var testStamp = netplan.Stamp{Start: 42 * time.Second, Settings: [8]byte{1, 2, 3}}

func tables(t testing.TB) map[string]netplan.MarkTable {
	plain := oneTable(t)
	many := oneTable(t)
	many.Interface, many.Mark, many.Mask = "enp0s31f6d1-ext", 0x1000, 0x3000
	many.Destinations = ranges(t, "203.0.113.1", "203.0.113.3-203.0.113.5", "198.51.100.0/24", "203.0.113.6")
	edges := oneTable(t)
	edges.Destinations = ranges(t, "0.0.0.0", "255.255.255.254-255.255.255.255")
	huge := oneTable(t)
	for i := range 3000 {
		a := netip.AddrFrom4([4]byte{10, byte(i >> 7), byte(i << 1), 1})
		huge.Destinations = append(huge.Destinations, netplan.Range{First: a, Last: a})
	}
	return map[string]netplan.MarkTable{"plain": plain, "many": many, "edges": edges, "huge": huge}
}

func TestAgentAndNFTMakeTheSameTable(t *testing.T) {
	k := newKernel(t)
	ctx := context.Background()
	for name, m := range tables(t) {
		t.Run(name, func(t *testing.T) {
			cleanTable(t, k)
			if err := k.ReplaceMarkTable(ctx, m, testStamp, netplan.Counters{}); err != nil {
				t.Fatal(err)
			}
			ours, err := k.MarkTable(ctx)
			if err != nil {
				t.Fatal(err)
			}
			byNFTofOurs := run(t, "nft", "list", "table", "inet", "homeward")
			loadByNFT(t, m)
			theirs, err := k.MarkTable(ctx)
			if err != nil {
				t.Fatal(err)
			}
			byNFTofTheirs := run(t, "nft", "list", "table", "inet", "homeward")

			if diff := cmp.Diff(byNFTofTheirs, byNFTofOurs); diff != "" {
				t.Errorf("as nft lists it (-nft's own +ours):\n%s", diff)
			}
			want := returnpath.Objects(m)
			if diff := cmp.Diff(want, ours.Objects); diff != "" {
				t.Errorf("our own, as we list it (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, theirs.Objects); diff != "" {
				t.Errorf("nft's, as we list it (-want +got):\n%s", diff)
			}
			if ours.Stamp == nil || *ours.Stamp != testStamp || theirs.Stamp != nil {
				t.Errorf("stamps: ours %v, nft's %v", ours.Stamp, theirs.Stamp)
			}
			if ours.Interface != m.Interface || theirs.Interface != m.Interface {
				t.Errorf("interfaces %q, %q", ours.Interface, theirs.Interface)
			}
		})
	}
}

// documentation goes into the test binary, which may run where no source is.
//
//go:embed doc.go
var documentation string

// TestNFTListsTheTableAsDocumented holds the package's documentation to what nft
// shows, modulo its spelling of the same things.
func TestNFTListsTheTableAsDocumented(t *testing.T) {
	k := newKernel(t)
	cleanTable(t, k)
	m := oneTable(t)
	if err := k.ReplaceMarkTable(context.Background(), m, testStamp, netplan.Counters{}); err != nil {
		t.Fatal(err)
	}
	got := run(t, "nft", "-s", "list", "table", "inet", "homeward")
	spelling := strings.NewReplacer(" | ", " or ", " & ", " and ", "0x00002000", "0x2000", "priority mangle + 1", "priority -149", ";", " ", "\n", " ")
	normal := func(s string) string {
		return strings.TrimSpace(regexp.MustCompile(`\s+`).ReplaceAllString(spelling.Replace(s), " "))
	}
	want := fmt.Sprintf(nftText, m.Destinations[0], m.Interface, m.Mark, m.Mask, ^m.Mark)
	if diff := cmp.Diff(normal(want), normal(got)); diff != "" {
		t.Errorf("(-documented +listed):\n%s", diff)
	}
	if !strings.Contains(normal(strings.ReplaceAll(documentation, "//", "")), normal(want)) {
		t.Error("doc.go shows another table")
	}
}

func TestNFTCanLoadWhatItListsOfOurs(t *testing.T) {
	k := newKernel(t)
	cleanTable(t, k)
	ctx := context.Background()
	if err := k.ReplaceMarkTable(ctx, oneTable(t), testStamp, netplan.Counters{Marked: netplan.Counter{Packets: 3, Bytes: 180}}); err != nil {
		t.Fatal(err)
	}
	before, err := k.MarkTable(ctx)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "listed.nft")
	if err := os.WriteFile(file, []byte("flush ruleset\n"+run(t, "nft", "list", "ruleset")), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "nft", "-f", file)
	after, err := k.MarkTable(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Objects, after.Objects); diff != "" {
		t.Errorf("after a round through nft:\n%s", diff)
	}
	if after.Counters.Marked.Packets != 3 {
		t.Errorf("counters %+v", after.Counters)
	}
}
