package main

import (
	"os/exec"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	const at = "20261130193455"
	for given, want := range map[string]string{
		"v1.2.0": "1.2.0", "v1.2.0-3-gabc1234": "1.2.0+3.gabc1234", "v1.2.0-3-gabc1234-dirty": "1.2.0+3.gabc1234.dirty",
		"v1.2.0-dirty": "1.2.0+0.dirty", "v1.2.0-rc.1": "1.2.0~rc.1", "v1.2.0-a b": "1.2.0~a.b",
		"ac31cd6": "0~git" + at + ".ac31cd6", "ac31cd6-dirty": "0~git" + at + ".ac31cd6.dirty", "1234567": "0~git" + at + ".1234567",
		"nightly": "0~git" + at + ".nightly", "unknown": "0~git" + at + ".unknown", "": "0~git" + at + ".unknown",
	} {
		if got, err := debVersion(given, at); got != want || err != nil {
			t.Errorf("%q: %q, want %q, error %v", given, got, want, err)
		}
	}
	if got, err := debVersion("unknown", ""); got != "0~git0.unknown" || err != nil {
		t.Errorf("outside of a repository: %q, error %v", got, err)
	}
	for _, wrong := range []string{"2026-11-30", "20261330193455", "now"} {
		if got, err := debVersion("ac31cd6", wrong); err == nil || !strings.Contains(err.Error(), "YYYYMMDDHHMMSS") {
			t.Errorf("-committed %q: %q, error %v", wrong, got, err)
		}
	}
}

// TestVersionsSort holds by dpkg's own judgement that what was committed later is an
// upgrade of what was before.
func TestVersionsSort(t *testing.T) {
	need(t, "dpkg")
	history := []struct{ described, committed string }{
		{"unknown", ""}, {"fffffff", "20251231235959"}, {"1234567", "20260101000000"}, {"ac31cd6", "20261130193454"}, {"0079469", "20261130193455"},
		{"0079469-dirty", "20261130193455"}, {"v0.9.0-rc.1", "20261201000000"}, {"v0.9.0-rc.1-2-gfff0000", "20261201000001"}, {"v0.9.0-rc.2", "20261201000002"},
		{"v0.9.0", "20261202000000"}, {"v0.9.0-dirty", "20261202000000"}, {"v0.9.0-2-gfff0000", "20261203000000"}, {"v0.9.0-10-gabc1234", "20261204000000"}, {"v0.10.0", "20261205000000"},
	}
	before := "0~ac31cd6" // as packages were named without a time
	for _, h := range history[1:] {
		later(t, before, h.described, h.committed)
		before = version(t, h.described, h.committed)
	}
	later(t, version(t, history[0].described, history[0].committed), history[1].described, history[1].committed)
}

func version(t *testing.T, described, committed string) string {
	t.Helper()
	v, err := debVersion(described, committed)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func later(t *testing.T, before, described, committed string) {
	t.Helper()
	v := version(t, described, committed)
	if out, err := exec.Command("dpkg", "--compare-versions", before, "lt", v).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%s is no upgrade of %s: %v %s", v, before, err, out)
	}
}
