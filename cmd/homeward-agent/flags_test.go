//go:build linux

package main

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"homeward/agent/returnpath"
	"homeward/netplan"

	"github.com/google/go-cmp/cmp"
)

// goodFlags is a command line of the generated pod.
func goodFlags(more ...string) []string {
	return append([]string{
		"--external-mac=bc:24:11:00:00:01", "--destinations=203.0.113.75-203.0.113.78,203.0.113.79/32", "--cidr=203.0.113.0/25",
		"--gateway=203.0.113.1", "--vip=203.0.113.79", "--mark=0x2000", "--mask=0x2000", "--table=251", "--priority=1001",
		"--routes=check", "--listen=127.0.0.1:9465,10.0.0.11:9465",
	}, more...)
}

func TestNodeFlags(t *testing.T) {
	var out, errs bytes.Buffer
	got, code, done := readNodeFlags(goodFlags("--resync=30s", "--log-format=json"), &out, &errs)
	if done || code != exitDone {
		t.Fatalf("code %d, done %v: %s", code, done, &errs)
	}
	want := nodeOptions{
		settings: returnpath.Settings{
			ExternalMAC:  netplan.MAC{0xbc, 0x24, 0x11, 0, 0, 1},
			Destinations: netplan.AddressSet{{First: netip.MustParseAddr("203.0.113.75"), Last: netip.MustParseAddr("203.0.113.79")}},
			CIDR:         netip.MustParsePrefix("203.0.113.0/25"), Gateway: netip.MustParseAddr("203.0.113.1"),
			VIP: netip.MustParseAddr("203.0.113.79"), Mark: 0x2000, Mask: 0x2000, Table: 251,
			Priorities: netplan.Priorities{VIP: 1000, Mark: 1001, VIPUnreachable: 1010, MarkUnreachable: 1011},
		},
		listen: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:9465"), netip.MustParseAddrPort("10.0.0.11:9465")},
		resync: 30 * time.Second, logFormat: logJSON,
	}
	options := cmp.Options{
		cmp.AllowUnexported(nodeOptions{}, netplan.Range{}),
		cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
		cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b }),
	}
	if diff := cmp.Diff(want, got, options); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNodeFlagFaults(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
		want  []string
	}{
		{"multicast MAC", []string{"--external-mac=01:00:5e:00:00:01"}, []string{"--external-mac: 01:00:5e:00:00:01 is no NIC's address"}},
		{"shorthand range", []string{"--destinations=203.0.113.75-78"}, []string{`--destinations: range end "78" is not an address: give 203.0.113.75-203.0.113.78`}},
		{"IPv6", []string{"--destinations=2001:db8::1"}, []string{"--destinations: "}},
		{"host bits", []string{"--cidr=203.0.113.5/25"}, []string{"--cidr: 203.0.113.5/25 has host bits set: give 203.0.113.0/25"}},
		{"gateway is the network", []string{"--gateway=203.0.113.0"}, []string{"--gateway: 203.0.113.0 is the network's or the broadcast address of 203.0.113.0/25"}},
		{"gateway is a destination", []string{"--gateway=203.0.113.76"}, []string{"--gateway: 203.0.113.76 is among the destinations: traffic to the router itself would be marked"}},
		{"VIP is the gateway", []string{"--vip=203.0.113.1"}, []string{"--vip: 203.0.113.1 is the gateway"}},
		{"mark outside its mask", []string{"--mask=0x1000"}, []string{"--mask: 0x1000 does not cover the mark 0x2000"}},
		{"no mark", []string{"--mark=0"}, []string{"--mark: zero marks nothing: give one bit, like 0x2000"}},
		{"the kernel's table", []string{"--table=254"}, []string{"--table: 254 is the kernel's own or none: give a free one, like 251"}},
		{"main first under someone else's rules", []string{"--prefer-main"}, []string{"--prefer-main: needs its own rule, and with --routes=check someone else owns the rules: give --routes=manage"}},
		{"no room for the rule of main", []string{"--prefer-main", "--routes=manage", "--priority=2"}, []string{"--priority: 2 leaves no room for our rules: give 3 to 32755"}},
		{"no room for the rules", []string{"--priority=32766"}, []string{"--priority: 32766 leaves no room for our rules: give 2 to 32755"}},
		{"owner", []string{"--routes=both"}, []string{`--routes: "both" is none of check, manage`}},
		{"a host name", []string{"--listen=localhost:9465"}, []string{`--listen: "localhost" is not an IP address`}},
		{"no port", []string{"--listen=127.0.0.1"}, []string{`--listen: "127.0.0.1" is not an address and a port: give it like 127.0.0.1:9465`}},
		{"an unexpanded variable", []string{"--listen=$(HOST_IP):9465"}, []string{`--listen: "$(HOST_IP)" is not an IP address`}},
		{"resync", []string{"--resync=1ms"}, []string{"--resync: 1ms is out of bounds: give 1s to 1h0m0s"}},
		{"both modes", []string{"--once", "--dry-run"}, []string{"--dry-run: does nothing, and --once does something: give one of them"}},
		{"unknown flag", []string{"--frobnicate"}, []string{"flag provided but not defined: -frobnicate"}},
		{"a word", []string{"now"}, []string{`unexpected word "now"`}},
		{"several at once", []string{"--mark=0", "--table=0", "--vip=x"}, []string{"--table: 0", "--mark: zero", "--vip: "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			_, code, done := readNodeFlags(goodFlags(tt.flags...), &out, &errs)
			if !done || code != exitUsage || out.Len() > 0 {
				t.Errorf("code %d, done %v, output %q", code, done, &out)
			}
			lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
			if len(lines) != len(tt.want) {
				t.Fatalf("faults %q, want %q", lines, tt.want)
			}
			for i, line := range lines {
				if !strings.HasPrefix(line, "homeward-agent node: "+tt.want[i]) {
					t.Errorf("fault %q, want %q", line, tt.want[i])
				}
			}
		})
	}
}

func TestNodeNamesEveryMissingFlag(t *testing.T) {
	var out, errs bytes.Buffer
	if _, code, _ := readNodeFlags(nil, &out, &errs); code != exitUsage || strings.Count(errs.String(), "is missing") != 4 {
		t.Errorf("code %d: %s", code, &errs)
	}
}

func TestListenNowhere(t *testing.T) {
	for _, v := range []string{"", "0"} {
		var c checker
		if got := c.listen(v); got != nil || c.faults != nil {
			t.Errorf("%q: %v, %v", v, got, c.faults)
		}
	}
}

func TestRun(t *testing.T) {
	tests := []struct {
		name string
		args []string
		code int
		out  string
		errs string
	}{
		{"nothing", nil, exitUsage, "", "Usage"},
		{"help", []string{"help"}, exitDone, "Usage", ""},
		{"help of a command", []string{"node", "-h"}, exitDone, "-external-mac MAC", ""},
		{"help says what main first costs", []string{"node", "-h"}, exitDone, "is answered by that link even when its request came in by the external router", ""},
		{"unknown command", []string{"nod"}, exitUsage, "", `no command "nod"`},
		{"version", []string{"version"}, exitDone, agentVersion(), ""},
		{"version with a word", []string{"version", "x"}, exitUsage, "", "unexpected word"},
		{"node without flags", []string{"node"}, exitUsage, "", "--gateway: is missing"},
		{"cleanup with a wrong owner", []string{"cleanup", "--routes=x"}, exitUsage, "", "--routes"},
		{"status of nobody", []string{"status", "--listen=127.0.0.1:1"}, exitUnknown, "", "no agent listens at 127.0.0.1:1"},
		{"status nowhere", []string{"status", "--listen=0"}, exitUsage, "", "give the one address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := run(t.Context(), tt.args, &out, &errs); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if !strings.Contains(out.String(), tt.out) || !strings.Contains(errs.String(), tt.errs) {
				t.Errorf("output %q, errors %q; want %q, %q", &out, &errs, tt.out, tt.errs)
			}
		})
	}
}

func FuzzNodeFlags(f *testing.F) {
	for _, flag := range goodFlags() {
		f.Add(flag)
	}
	f.Add("--destinations=0.0.0.0-255.255.255.255")
	f.Add("--cidr=0.0.0.0/0")
	f.Fuzz(func(t *testing.T, arg string) {
		var out, errs bytes.Buffer
		o, code, done := readNodeFlags(goodFlags(arg), &out, &errs)
		switch {
		case done && code == exitUsage && errs.Len() == 0:
			t.Fatalf("%q is refused without a word", arg)
		case done:
			return
		}
		s := o.settings
		if s.ExternalMAC.IsZero() || len(s.Destinations) == 0 || !s.CIDR.IsValid() || !s.Gateway.Is4() || s.Destinations.Contains(s.Gateway) ||
			s.Mark == 0 || uint32(s.Mark)&^uint32(s.Mask) != 0 || s.Table == 0 || s.Priorities.VIP == 0 || s.Priorities.MarkUnreachable >= 32766 {
			t.Fatalf("%q is accepted as %+v", arg, s)
		}
	})
}
