package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseEndpoint(t *testing.T) {
	for text, want := range map[string]Endpoint{
		"203.0.113.75:443":        {Host: "203.0.113.75", Port: 443},
		"www.example.edu:65535":   {Host: "www.example.edu", Port: 65535},
		"node_1:22":               {Host: "node_1", Port: 22},
		"[2001:db8::1]:80":        {Host: "2001:db8::1", Port: 80},
		"[fe80::1%eth0]:80":       {Host: "fe80::1%eth0", Port: 80},
		"[::ffff:203.0.113.1]:80": {Host: "::ffff:203.0.113.1", Port: 80},
	} {
		t.Run(text, func(t *testing.T) {
			want.Text = text
			got, err := ParseEndpoint(text)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestMistakesInTargets(t *testing.T) {
	for text, want := range map[string]string{
		"203.0.113.75":                           "has no port",
		"203.0.113.75:":                          `"" is no port`,
		"203.0.113.75:0":                         `"0" is no port`,
		"203.0.113.75:65536":                     `"65536" is no port`,
		"203.0.113.75:http":                      `"http" is no port`,
		"203.0.113.75:-1":                        `"-1" is no port`,
		":443":                                   "has no address",
		"":                                       "has no port",
		"2001:db8::1:443":                        "in brackets",
		"[2001:db8::1]":                          "has no port",
		"[2001:db8::1:443":                       "closing bracket",
		"[203.0.113.75]:443":                     "only IPv6",
		"[2001:db8::zz]:443":                     "is no address",
		"[fe80::1]:443":                          "needs its interface",
		"203.0.113.300:443":                      "is no address",
		"203.0.113:443":                          "is no address",
		"0.0.0.0:443":                            "would reach this machine",
		"[::]:443":                               "would reach this machine",
		"224.0.0.1:443":                          "not one machine's",
		"255.255.255.255:443":                    "not one machine's",
		"a b:443":                                "neither a name nor an address",
		"a..b:443":                               "neither a name nor an address",
		"\x1b[31m:443":                           "neither a name nor an address",
		"https://a.example:1":                    "is a URL",
		strings.Repeat("a", 64) + ".example:443": "neither a name nor an address",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := ParseEndpoint(text)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q in it", err, want)
			}
			if err != nil && strings.ContainsRune(err.Error(), 0x1b) {
				t.Errorf("the error writes to the terminal: %q", err)
			}
		})
	}
}

func TestAllTargetsTogether(t *testing.T) {
	many := make([]string, 10_000)
	for i := range many {
		many[i] = fmt.Sprintf("10.0.%d.%d:80", i/250, i%250+1)
	}
	for name, c := range map[string]struct {
		texts []string
		want  []string
	}{
		"none":                      {nil, []string{"no target"}},
		"too many":                  {many, []string{"10000 targets", "2000"}},
		"the same twice":            {[]string{"A.example:80", "203.0.113.1:80", "a.example.:80", "[::ffff:203.0.113.1]:80"}, []string{`"a.example.:80" is given twice`, `(first as "203.0.113.1:80")`}},
		"every mistake, not only 1": {[]string{"a", "b"}, []string{`"a" has no port`, `"b" has no port`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseEndpoints(c.texts)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q in it", err, want)
				}
			}
		})
	}
	if list, err := ParseEndpoints(many[:MaxTargets]); err != nil || len(list) != MaxTargets {
		t.Errorf("%d targets, %v", len(list), err)
	}
}

func FuzzParseEndpoint(f *testing.F) {
	for _, text := range []string{"203.0.113.75:443", "[2001:db8::1%x]:80", "a.example:1", ":", "[", "[]:1", "::"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseEndpoint(text)
		if err != nil {
			return
		}
		if e.Port == 0 || e.Host == "" || e.Text != text {
			t.Errorf("%q gives %+v", text, e)
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) && !strings.Contains(text, "%") {
			t.Errorf("%q is taken", text)
		}
	})
}

func TestResolve(t *testing.T) {
	names := map[string][]netip.Addr{
		"both.example":   {netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("::ffff:203.0.113.2"), netip.MustParseAddr("203.0.113.3")},
		"six.example":    {netip.MustParseAddr("2001:db8::6")},
		"silent.example": nil,
		"local.example":  {netip.MustParseAddr("0.0.0.0")},
	}
	var asked atomic.Int64
	lookup := func(_ context.Context, _, host string) ([]netip.Addr, error) {
		asked.Add(1)
		list, ok := names[host]
		if !ok {
			return nil, errors.New("no such host")
		}
		return list, nil
	}
	resolve := func(texts ...string) ([]Target, error) {
		endpoints, err := ParseEndpoints(texts)
		if err != nil {
			t.Fatal(err)
		}
		return Resolve(t.Context(), lookup, endpoints)
	}
	got, err := resolve("both.example:80", "six.example:80", "203.0.113.9:80")
	want := []Target{
		{"both.example:80", "both.example", netip.MustParseAddrPort("203.0.113.2:80")},
		{"six.example:80", "six.example", netip.MustParseAddrPort("[2001:db8::6]:80")},
		{"203.0.113.9:80", "203.0.113.9", netip.MustParseAddrPort("203.0.113.9:80")},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.AddrPort{})); diff != "" || err != nil || asked.Load() != 2 {
		t.Errorf("asked %d times, %v (-want +got):\n%s", asked.Load(), err, diff)
	}
	_, err = resolve("none.example:80", "silent.example:80", "local.example:80")
	for _, text := range []string{`"none.example:80": no such host`, `"silent.example:80": no address`, "would reach this machine"} {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q in it", err, text)
		}
	}
}

func TestSettingsThatCannotBeMeasured(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Settings)
		want   string
	}{
		{"no interval", func(s *Settings) { s.Interval = 0 }, "interval 0s"},
		{"negative interval", func(s *Settings) { s.Interval = -ms }, "interval -1ms"},
		{"interval beyond all", func(s *Settings) { s.Interval = 1000 * maxInterval }, "give 1ms to 1h"},
		{"more than can be timed", func(s *Settings) { *s = settings(200, 5*ms, HandshakeLimit, 0) }, "give at least 10ms"},
		{"no timeout", func(s *Settings) { s.Timeout = 0 }, "timeout 0s"},
		{"too many under way", func(s *Settings) { s.Timeout, s.Interval = maxTimeout, 10*ms }, "shorten it"},
		{"negative duration", func(s *Settings) { s.Duration = -1 }, "duration -1ns"},
		{"negative count", func(s *Settings) { s.Count = -1 }, "count -1"},
		{"unknown mode", func(s *Settings) { s.Mode = "icmp" }, `"icmp" is not known`},
		{"no targets", func(s *Settings) { s.Targets = nil }, "0 targets"},
		{"path that splits the request", func(s *Settings) { s.Mode, s.Path = ModeHTTP, "/ HTTP/1.1\r\nX: y" }, "printable ASCII"},
		{"path without a slash", func(s *Settings) { s.Mode, s.Path = ModeHTTP, "healthz" }, "begins with /"},
		{"name that splits the request", func(s *Settings) { s.ServerName = "a\r\nX: y" }, "is not a name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := settings(1, DefaultInterval, DefaultTimeout, 0)
			c.change(&s)
			if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
			if _, err := New(s); err == nil {
				t.Error("a prober is made all the same")
			}
		})
	}
}
