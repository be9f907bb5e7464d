package probe

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// hex prints an address as the kernel does: as it lies in memory.
func hex(address string) string {
	b := netip.MustParseAddr(address).As4()
	return fmt.Sprintf("%08X", binary.NativeEndian.Uint32(b[:]))
}

func routes() string {
	row := func(name, to, via, flags, mask string) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s\t0\t0\t0\t%s\t0\t0\t0\n", name, hex(to), hex(via), flags, hex(mask))
	}
	return "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n" +
		row("eth0", "0.0.0.0", "10.0.0.1", "0003", "0.0.0.0") +
		row("eth0", "10.0.0.0", "0.0.0.0", "0001", "255.255.255.0") +
		row("eth1", "203.0.113.0", "0.0.0.0", "0001", "255.255.255.128") +
		row("eth0", "203.0.113.64", "10.0.0.9", "0003", "255.255.255.192") +
		row("eth2", "198.51.100.0", "0.0.0.0", "0000", "255.255.255.0") +
		row("*", "192.0.2.0", "0.0.0.0", "0201", "255.255.255.0") +
		"garbage\n\neth3\tzz\tzz\tzz\t0\t0\t0\tzz\n"
}

func TestSegmentOf(t *testing.T) {
	links := parseRoutes(routes())
	for address, want := range map[string]string{
		"10.0.0.7":     "eth0",
		"203.0.113.5":  "eth1",
		"203.0.113.75": "",     // a longer prefix has a gateway
		"8.8.8.8":      "",     // by the default route
		"198.51.100.1": "",     // a route that is down
		"192.0.2.1":    "",     // a route that rejects
		"203.0.113.63": "eth1", // the last of the shorter prefix
	} {
		if got := segmentOf(links, netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is on %q, want %q", address, got, want)
		}
	}
	if got := segmentOf(nil, netip.MustParseAddr("10.0.0.7")); got != "" {
		t.Errorf("without routes on %q", got)
	}
}

func TestParseARP(t *testing.T) {
	const text = `IP address       HW type     Flags       HW address            Mask     Device
203.0.113.75     0x1         0x2         02:00:00:00:0e:01     *        eth1
203.0.113.76     0x1         0x0         00:00:00:00:00:00     *        eth1
203.0.113.77     0x1         0x6         02:00:00:00:0E:02     *        eth1
203.0.113.75     0x1         0x2         02:00:00:00:0e:03     *        eth2
nonsense         0x1         0x2         02:00:00:00:0e:04     *        eth1
203.0.113.78     0x1         0x2         nonsense              *        eth1
short
`
	want := map[station]string{
		{netip.MustParseAddr("203.0.113.75"), "eth1"}: "02:00:00:00:0e:01",
		{netip.MustParseAddr("203.0.113.77"), "eth1"}: "02:00:00:00:0e:02",
		{netip.MustParseAddr("203.0.113.75"), "eth2"}: "02:00:00:00:0e:03",
	}
	if diff := cmp.Diff(want, parseARP(text), cmpopts.EquateComparable(station{})); diff != "" {
		t.Errorf("MACs (-want +got):\n%s", diff)
	}
}

func FuzzKernelTables(f *testing.F) {
	f.Add(routes())
	f.Add("203.0.113.75 0x1 0x2 02:00:00:00:0e:01 * eth1\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range parseRoutes(text) {
			if !l.prefix.IsValid() || !l.prefix.Addr().Is4() {
				t.Errorf("route %+v", l)
			}
		}
		for s, mac := range parseARP(text) {
			if !s.address.IsValid() || mac == "" {
				t.Errorf("entry %+v %q", s, mac)
			}
		}
	})
}
