package talosgen_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"homeward/netplan"
)

func TestScriptRepairs(t *testing.T) {
	p := podPlan(t, nil)
	text := podScript(t, p)
	for _, fault := range []struct{ name, line string }{
		{"ruleset flushed", "nft flush ruleset"},
		{"table deleted", "nft delete table inet homeward"},
		{"table flushed", "nft flush table inet homeward"},
		{"chain deleted", "nft flush chain inet homeward output; nft delete chain inet homeward output"},
		{"rule deleted", "nft delete rule inet homeward prerouting handle $(nft -a list chain inet homeward prerouting | sed -n 's/.*ens19.*# handle //p')"},
		{"rule added", "nft insert rule inet homeward prerouting accept"},
		{"element deleted", "nft delete element inet homeward ingress4 '{ 203.0.113.75-203.0.113.79 }'"},
		{"element added", "nft add element inet homeward ingress4 '{ 203.0.113.99 }'"},
		{"policy changed", "nft 'chain inet homeward prerouting { policy drop; }'"},
		{"table made dormant", "nft 'add table inet homeward { flags dormant; }'"},
		{"table replaced by another", "nft 'delete table inet homeward; add table inet homeward; add chain inet homeward theirs'"},
	} {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, p)
			n.addNIC("ens19", n.mac)
			want := n.wants(documentedTable)
			s := n.start(text)
			n.eventually(want)
			s.says("table inet homeward was not there: installed")
			n.run(fault.line)
			if n.listing(netplan.NFTablesTable) == want {
				t.Fatal("the fault changed nothing")
			}
			n.eventually(want)
			s.stop()
			if got := n.listing(netplan.NFTablesTable); got != want {
				t.Errorf("SIGTERM changed the table to\n%s", got)
			}
			if left := n.run("nft list tables"); left != "table inet homeward\n" {
				t.Errorf("tables afterwards:\n%s", left)
			}
		})
	}
}

// A table that is right is not written: its counters live, and an agent that
// takes over, or is taken over from, sees nothing happen.
func TestScriptLeavesARightTableAlone(t *testing.T) {
	t.Parallel()
	p := podPlan(t, nil)
	n := newNode(t, p)
	n.addNIC("ens19", n.mac)
	counted := strings.ReplaceAll(documentedTable, "counter", "counter packets 7 bytes 700")
	counted = strings.Replace(counted, "{\n", "{\n\tcomment \"written by another\"\n", 1)
	n.run("nft '" + counted + "'")
	before := n.run("nft -a list table inet homeward")
	if !strings.Contains(before, "packets 7 bytes 700") || !strings.Contains(before, "written by another") {
		t.Fatalf("the table is not as the test needs it:\n%s", before)
	}

	pauses := n.recordPauses()
	s := n.start(podScript(t, p))
	s.says("external NIC is ens19", "table inet homeward is in place")
	said := s.log.String()
	// Several passes, however long the machine needs for one.
	for end := time.Now().Add(repairWithin); len(pauses()) < 3 && time.Now().Before(end); {
		time.Sleep(lookEvery)
	}
	if got := pauses(); len(got) < 3 || slices.ContainsFunc(got, func(s string) bool { return s != "2" }) {
		t.Errorf("pauses %v, want always 2 seconds", got)
	}
	if after := n.run("nft -a list table inet homeward"); after != before {
		t.Errorf("was\n%s\nis\n%s", before, after)
	}
	if more := strings.TrimPrefix(s.log.String(), said); more != "" {
		t.Errorf("said without a change: %s", more)
	}
	if !strings.Contains(said, "from 169.254.") || strings.Count(said, "\n") != 4 {
		t.Errorf("want four lines, one naming the anchor:\n%s", said)
	}
}

// As process 1 it gets no SIGTERM that it does not ask for, and a shell that waits
// for a program hears none until that ends.
func TestScriptEndsInTheMiddleOfAPause(t *testing.T) {
	t.Parallel()
	p := podPlan(t, nil)
	n := newNode(t, p)
	n.addNIC("ens19", n.mac)
	n.wrap("sleep", "set -- 60")
	s := n.start(podScript(t, p))
	s.says("was not there: installed")
	time.Sleep(time.Second)
	s.stop()
	s.says("stopping; table inet homeward stays")
}

// The new table takes the place of the old one in one transaction.
func TestScriptReplacesInOneTransaction(t *testing.T) {
	t.Parallel()
	p := podPlan(t, nil)
	n := newNode(t, p)
	n.addNIC("ens19", n.mac)
	grown := podPlan(t, func(s *netplan.Spec) {
		r, err := netplan.ParseRange("203.0.113.90-203.0.113.95")
		if err != nil {
			t.Fatal(err)
		}
		s.External.Pool = append(s.External.Pool, r)
	})
	want := n.wants(strings.Replace(documentedTable, "203.0.113.79 ", "203.0.113.79, 203.0.113.90-203.0.113.95 ", 1))
	s := n.start(podScript(t, p))
	s.says("was not there: installed")
	s.stop()

	events := n.monitor()
	n.start(podScript(t, grown))
	n.eventually(want)
	checkOneTransaction(t, events())
}

func TestScriptOutlivesAFailingNFT(t *testing.T) {
	t.Parallel()
	p := podPlan(t, nil)
	n := newNode(t, p)
	n.addNIC("ens19", n.mac)
	want := n.wants(documentedTable)
	broken := filepath.Join(t.TempDir(), "broken")
	n.wrap("nft", "if [ -e "+broken+" ]; then echo 'Error: No buffer space available' >&2; exit 1; fi")
	pauses := n.recordPauses()
	breakNFT := func() {
		if err := os.WriteFile(broken, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	breakNFT()
	s := n.start(podScript(t, p))
	s.says("Error: No buffer space available")
	time.Sleep(severalPasses)
	if count := strings.Count(s.log.String(), "No buffer space"); count != 1 {
		t.Errorf("said %d times:\n%s", count, s.log)
	}
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	n.eventually(want)
	s.says("working again")
	if got := pauses(); len(got) < 1 || got[0] != "4" || slices.Contains(got[1:], "4") {
		t.Errorf("pauses %v, want 4 and then longer ones until it works", got)
	}

	t.Run("a listing that fails is no reason to write", func(t *testing.T) {
		n := n.on(t)
		handles := n.run("nft -a list table inet homeward")
		breakNFT()
		time.Sleep(severalPasses)
		if err := os.Remove(broken); err != nil {
			t.Fatal(err)
		}
		time.Sleep(severalPasses)
		if now := n.run("nft -a list table inet homeward"); now != handles {
			t.Errorf("was\n%s\nis\n%s", handles, now)
		}
	})
}
