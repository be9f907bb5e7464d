package load

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryFaultAtOnceInFileOrder(t *testing.T) {
	file := read(t, "moved.yaml")
	for _, e := range []edit{
		{"v1.13.9", "v1.13.0"}, {"cidr: 10.0.0.0/24", "cidr: 10.0.0.0"}, {"vlan: 1691", "vlan: 4095"},
		{"gateway: 203.0.113.1", "gateway: 203.0.114.1"}, {"169.254.32.0/20", "10.9.0.0/20"}, {"bridge: vmbr1", "brigde: vmbr1"},
	} {
		file = with(t, file, e.old, e.new)
	}
	var got []string
	for _, m := range mistakes(t, file) {
		got = append(got, strings.Join(strings.SplitN(m, ":", 3)[:2], ":"))
	}
	want := []string{
		"2: talos.version", "7: network.cluster.cidr", "10: network.external.vlan", "12: network.external.gateway",
		"13: network.external.anchor_cidr", "19: proxmox.network.cluster.brigde",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestManyFaultsOfOneFieldAreCounted(t *testing.T) {
	var b strings.Builder
	b.WriteString(with(t, read(t, "seed.yaml"), "worker: {count: 3}", "worker: {count: 50}") + "machines:\n")
	for i := range 50 {
		fmt.Fprintf(&b, "  edge-worker-%02d: {vmid: x}\n", i+1)
	}
	got := mistakes(t, b.String())
	if len(got) != maxPerGroup+1 {
		t.Fatalf("%d faults: %v", len(got), got)
	}
	if want := "44: machines.edge-worker-21.vmid: and 30 more faults of this kind"; got[maxPerGroup] != want {
		t.Errorf("last is %q, want %q", got[maxPerGroup], want)
	}
}

func TestLenientSections(t *testing.T) {
	for name, c := range map[string]struct {
		edit
		fault string // what the one fault ends with; empty for none
	}{
		"two letters from a missing key":  {edit{"name: edge", "name: edge\nagnet: {}"}, "did you mean agent?"},
		"two letters from a present key":  {edit{"name: edge", "name: edge\ntags: {a: b}"}, ""},
		"one letter from a present key":   {edit{"name: edge", "name: edge\ntalso: {}"}, "did you mean talos?"},
		"three letters from any":          {edit{"name: edge", "name: edge\nagendas: {}"}, ""},
		"a short key wants one letter":    {edit{"kubernetes: {", "kubernetes: {dns: a, "}, ""},
		"a short key misspelt":            {edit{"kubernetes: {", "kubernetes: {cin: flannel, "}, "did you mean cni?"},
		"csi is no misspelt cni":          {edit{"kubernetes: {", "kubernetes: {csi: proxmox, "}, ""},
		"in a pool":                       {edit{"worker: {count: 3}", "worker: {count: 3, externl: false}"}, "did you mean external?"},
		"in the provider's section":       {edit{"  url:", "  tls_verfy: false\n  url:"}, "did you mean tls_verify?"},
		"in argocd, deeper":               {edit{"name: edge", "name: edge\nargocd: {metallb: {enable: true}}"}, "did you mean enabled?"},
		"upper case":                      {edit{"talos:", "TALOS:"}, "did you mean talos?"},
		"camel case":                      {edit{"kubernetes: {", "kubernetes: {podCIDR: 10.245.0.0/16, "}, "did you mean pod_cidr?"},
		"dashes":                          {edit{"name: edge", "name: edge\nreturn-path: {}"}, "did you mean return_path?"},
		"in talos":                        {edit{"{version: v1.13.9}", "{version: v1.13.9, install: {disk: a}}"}, ""},
		"a name no distance is taken for": {edit{"name: edge", "name: edge\n" + strings.Repeat("n", 5000) + ": 1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := mistakes(t, with(t, read(t, "seed.yaml"), c.old, c.new))
			if c.fault == "" && len(got) > 0 || c.fault != "" && (len(got) != 1 || !strings.HasSuffix(got[0], c.fault)) {
				t.Errorf("got %q, want %q", got, c.fault)
			}
		})
	}
}

// A value that cannot be read must not make netplan speak of what follows from
// its absence.
func TestOneMistakeIsOneFault(t *testing.T) {
	for _, name := range []string{"full.yaml", "openstack-full.yaml"} {
		t.Run(name, func(t *testing.T) { oneMistakeIsOneFault(t, read(t, name)) })
	}
}

func oneMistakeIsOneFault(t *testing.T, full string) {
	var all []string
	for _, line := range strings.Split(full, "\n") {
		if key, value, ok := strings.Cut(line, ": "); ok && !strings.ContainsAny(value, "{[") && strings.TrimSpace(value) != "" {
			all = append(all, key+": "+value)
		}
	}
	sort.Strings(all)
	for _, line := range all {
		key, _, _ := strings.Cut(line, ": ")
		for kind, wrong := range map[string]string{"unreadable": key + ": !x y", "misspelt": swapped(key) + ": 1"} {
			t.Run(kind+" "+strings.TrimSpace(key), func(t *testing.T) {
				if got := mistakes(t, with(t, full, line, wrong)); len(got) != 1 {
					t.Errorf("%q gives %d faults: %q", wrong, len(got), got)
				}
			})
		}
	}
}

// swapped swaps the last two letters of a key.
func swapped(key string) string {
	n := len(key)
	return key[:n-2] + string(key[n-1]) + string(key[n-2])
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "ab", 2}, {"vlan", "vlan", 0}, {"vlna", "vlan", 1}, {"van", "vlan", 1}, {"vlann", "vlan", 1},
		{"vlen", "vlan", 1}, {"tags", "talos", 2}, {"retrun_path", "return_path", 1}, {"ca", "abc", 3}, {"über", "uber", 1},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := distance(c.b, c.a); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

// Ranges that all overlap one another must not cost the square of their number.
func TestFaultsOfOverlappingRangesAreBounded(t *testing.T) {
	var reserved []string
	for i := range 400 {
		reserved = append(reserved, fmt.Sprintf("203.0.113.64-203.0.113.%d", 65+i%50))
	}
	pool := "[" + strings.Repeat("203.0.113.64/28, ", 400) + "]"
	file := with(t, read(t, "seed.yaml"), "203.0.113.75-203.0.113.78", pool+"\n      reserved: ["+strings.Join(reserved, ", ")+"]")
	got := mistakes(t, file)
	last := got[len(got)-1]
	var more int
	if _, err := fmt.Sscanf(last, "22: proxmox.network.external.ingress_pool: and %d more faults of this kind", &more); err != nil || more > 10_000 {
		t.Errorf("%d faults, last is %q (%v)", len(got), last, err)
	}
}
