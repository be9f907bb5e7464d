package load

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// suggestion is the value that a message says is right.
var suggestion = regexp.MustCompile(`(?:shrink proxmox\.network\.external\.(ingress_pool) to |, like |: (?:give|keep)[a-z ,]*? |dash, |full, |length, |list, like )(\[[^]]*\]|[0-9][0-9a-fx./-]*)`)

// followed does what every fault of a file says, all at once, and says whether
// each said anything.
func followed(t *testing.T, file string) (string, bool) {
	t.Helper()
	_, err := Bytes("cluster.yaml", []byte(file))
	var faults *Faults
	if !errors.As(err, &faults) {
		return file, true
	}
	lines := strings.Split(file, "\n")
	for _, l := range faults.List {
		m := suggestion.FindStringSubmatch(l.Message)
		if m == nil {
			return file, false
		}
		name := strings.Split(last(l.Path), "[")[0]
		at := l.Line - 1
		if m[1] != "" {
			for name, at = m[1], 0; !strings.Contains(lines[at], name+": "); at++ {
			}
		}
		value := regexp.MustCompile(`\b` + name + `: (\[[^]]*\]|"[^"]*"|[^,}]*)`)
		if !value.MatchString(lines[at]) {
			t.Fatalf("no %s on line %d for %q", name, at+1, l.Message)
		}
		lines[at] = value.ReplaceAllLiteralString(lines[at], name+": "+m[2])
	}
	return strings.Join(lines, "\n"), true
}

// What a message suggests must load, all of one file's suggestions taken at once.
func TestSuggestionsAreRight(t *testing.T) {
	const pool, ext, vip = "ingress_pool: 203.0.113.75-203.0.113.78", "cidr: 203.0.113.0/25", "kubeapi_vip: 203.0.113.79"
	mark := func(mark, mask string) edit {
		return edit{"name: edge", "name: edge\nreturn_path: {mark: " + mark + mask + "}"}
	}
	source := func(s string) edit { return edit{"name: edge", "name: edge\nsecurity: {talos: {office: " + s + "}}"} }
	for name, c := range map[string]struct {
		edits []edit
		want  string // what every message must hold
	}{
		"address as network":               {[]edit{{ext, "cidr: 203.0.113.5"}}, "203.0.113.0/24"},
		"netmask as network":               {[]edit{{ext, "cidr: 255.255.255.0"}}, "is a netmask, not a network"},
		"netmask as prefix":                {[]edit{{"cidr: 10.0.0.0/24", "cidr: 10.0.0.5/255.255.255.0"}}, "10.0.0.0/24"},
		"a large netmask":                  {[]edit{{ext, "cidr: 203.0.113.0/254.0.0.0"}}, "has a netmask"},
		"host bits":                        {[]edit{{ext, "cidr: 203.0.113.5/25"}}, "203.0.113.0/25"},
		"a source with a netmask":          {[]edit{source("10.9.0.5/255.255.255.0")}, "10.9.0.0/24"},
		"a netmask as source":              {[]edit{source("255.255.255.0")}, "is a netmask"},
		"a source with host bits":          {[]edit{source("10.9.0.5/24")}, "10.9.0.0/24"},
		"several sources":                  {[]edit{source(`"10.9.0.1, 10.9.0.2"`)}, "[10.9.0.1, 10.9.0.2]"},
		"the pool's first half":            {[]edit{{pool, "ingress_pool: 203.0.113.0-203.0.113.127"}}, "[203.0.113.2-203.0.113.78, 203.0.113.80-203.0.113.126]"},
		"a pool with every kind of hole":   {[]edit{{pool, "ingress_pool: 203.0.113.0-203.0.113.127\n      reserved: [203.0.113.5]\n      dhcp_ranges: [203.0.113.100-203.0.113.120]"}}, "[203.0.113.2-203.0.113.4, 203.0.113.6-203.0.113.78, 203.0.113.80-203.0.113.99, 203.0.113.121-203.0.113.126]"},
		"a pool in parts that overlap":     {[]edit{{pool, "ingress_pool: [203.0.113.0/28, 203.0.113.10-203.0.113.20]"}}, "203.0.113.2-203.0.113.20"},
		"the pool is the link":             {[]edit{{pool, "ingress_pool: 203.0.113.0/25"}}, "[203.0.113.2-203.0.113.78, 203.0.113.80-203.0.113.126]"},
		"all is taken and the VIP wrong":   {[]edit{{pool, "ingress_pool: 203.0.113.0/25"}, {vip, "kubeapi_vip: 203.0.113.1"}}, "203.0.113.2-203.0.113.125"},
		"the pool is elsewhere":            {[]edit{{pool, "ingress_pool: 203.0.114.0/28"}}, "203.0.113.2-203.0.113.78"},
		"the pool and the VIP elsewhere":   {[]edit{{pool, "ingress_pool: 203.0.114.0/28"}, {vip, "kubeapi_vip: 203.0.114.1"}}, "203.0.113."},
		"a VIP in the pool":                {[]edit{{vip, "kubeapi_vip: 203.0.113.76"}}, "203.0.113.79"},
		"dots in a range":                  {[]edit{{pool, "ingress_pool: 203.0.113.75..203.0.113.78"}}, "203.0.113.75-203.0.113.78"},
		"dots in a short range":            {[]edit{{pool, "ingress_pool: 203.0.113.75..78"}}, "203.0.113.75-203.0.113.78"},
		"dots in numbers":                  {[]edit{{pool, "ingress_pool: 75..80"}, {vip, "kubeapi_vip: 203.0.113.90"}}, "with a dash"},
		"a neighbour's mark":               {[]edit{mark("0x4000", ", mask: 0x4000")}, "0x2000"},
		"a neighbour's mark, outside":      {[]edit{mark("0x4000", ", mask: 0x2000")}, "like 0x2000"},
		"another one":                      {[]edit{mark("0x1", ", mask: 0x2000")}, "like 0x2000"},
		"and another":                      {[]edit{mark("0x8", ", mask: 0x2000")}, "like 0x2000"},
		"a free mark, outside":             {[]edit{mark("0x1000", ", mask: 0x2000")}, "like 0x1000"},
		"two bits of mask":                 {[]edit{mark("0x1000", ", mask: 0x3000")}, "like 0x1000"},
		"no mask":                          {[]edit{mark("0x4000", ", mask: 0")}, "like 0x2000"},
		"no mark":                          {[]edit{mark("0", ", mask: 0x1000")}, "like 0x1000"},
		"pods and services on the cluster": {[]edit{{"kubernetes: {", "kubernetes: {pod_cidr: 10.0.0.0/24, service_cidr: 10.0.0.0/24, "}}, "like "},
		"pods, host bits on the cluster":   {[]edit{{"kubernetes: {", "kubernetes: {pod_cidr: 10.0.0.5/24, "}}, "like "},
	} {
		t.Run(name, func(t *testing.T) {
			file := read(t, "seed.yaml")
			for _, e := range c.edits {
				file = with(t, file, e.old, e.new)
			}
			got := mistakes(t, file)
			for _, m := range got {
				if !strings.Contains(m, c.want) {
					t.Errorf("%q does not say %q", m, c.want)
				}
			}
			next, ok := followed(t, file)
			if strings.Contains(file, "return_path") {
				// Both are to have the one bit that is suggested.
				bit := suggestion.FindStringSubmatch(got[0])[2]
				next = regexp.MustCompile(`mark: .*, mask: [0-9a-fx]*`).ReplaceAllString(file, "mark: "+bit+", mask: "+bit)
			}
			if again := mistakes(t, next); len(got) == 0 || !ok || len(again) > 0 {
				t.Errorf("%q, followed, gives %q in\n%s", got, again, next)
			}
		})
	}
}

// Whatever stands in the way on the external link, what is suggested loads.
func TestSuggestionsForTheExternalLinkAreRight(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	right, silent := 0, 0
	for range 1000 {
		bits := 24 + random.IntN(8)
		size := 1 << (32 - bits)
		at := func() int { return random.IntN(size + 2) }
		span := func() string {
			a, b := at(), at()
			return fmt.Sprintf("203.0.113.%d-203.0.113.%d", min(a, b, 255), min(max(a, b), 255))
		}
		file := read(t, "seed.yaml")
		usable := 1 + random.IntN(max(size-2, 1))
		if bits == 31 {
			usable = random.IntN(2)
		}
		for _, e := range []edit{
			{"cidr: 203.0.113.0/25", fmt.Sprintf("cidr: 203.0.113.0/%d", bits)},
			{"gateway: 203.0.113.1\n", fmt.Sprintf("gateway: 203.0.113.%d\n", usable)},
			{"kubeapi_vip: 203.0.113.79", fmt.Sprintf("kubeapi_vip: 203.0.113.%d", min(at(), 255))},
			{"ingress_pool: 203.0.113.75-203.0.113.78", "ingress_pool: [" + span() + ", " + span() + "]"},
		} {
			file = with(t, file, e.old, e.new)
		}
		if reserved := min(at(), size-1); random.IntN(2) == 0 {
			file = with(t, file, "      ingress_pool", fmt.Sprintf("      reserved: [203.0.113.%d]\n      ingress_pool", reserved))
		}
		next, ok := followed(t, file)
		if !ok {
			silent++
			continue
		}
		right++
		if again := mistakes(t, next); len(again) > 0 {
			t.Fatalf("%q, followed, gives %q in\n%s", mistakes(t, file), again, next)
		}
	}
	if right < 700 {
		t.Errorf("only %d were followed, %d said nothing", right, silent)
	}
}
