//go:build linux

package netlab_test

import (
	"fmt"
	"strings"
	"testing"

	"homeward/testenv/netlab"
)

// recorder is a test that remembers how Require ended it.
type recorder struct{ verdict string }

func (r *recorder) Helper()           {}
func (r *recorder) Skip(args ...any)  { r.verdict = "skip: " + fmt.Sprint(args...) }
func (r *recorder) Fatal(args ...any) { r.verdict = "fatal: " + fmt.Sprint(args...) }

func TestRequire(t *testing.T) {
	netlab.Require(t)
	tests := map[string]struct {
		forbidden, ci string
		want          string
	}{
		"skips with the reason":       {forbidden: "no such luck", want: "skip: no such luck"},
		"fails in CI":                 {forbidden: "no such luck", ci: "true", want: "fatal: no such luck"},
		"fails without netlab.Main":   {want: "fatal: not inside the lab"},
		"fails in CI without a cause": {ci: "true", want: "fatal: not inside the lab"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOMEWARD_NETLAB_OUTSIDE", "")
			t.Setenv("HOMEWARD_NETLAB_FORBIDDEN", test.forbidden)
			t.Setenv("CI", test.ci)
			var r recorder
			netlab.Require(&r)
			if !strings.HasPrefix(r.verdict, test.want) {
				t.Errorf("Require: %q, want %q", r.verdict, test.want)
			}
		})
	}
	t.Run("passes inside", func(t *testing.T) {
		var r recorder
		netlab.Require(&r)
		if r.verdict != "" {
			t.Errorf("Require inside: %q", r.verdict)
		}
	})
}
