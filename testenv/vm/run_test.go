//go:build linux

package vm

import (
	"strings"
	"testing"

	"homeward/testenv/vm/wire"
)

func TestEventsMustAddUp(t *testing.T) {
	start := func(name string) wire.Event { return wire.Event{Kind: wire.Started, Program: name} }
	end := func(name string, exit int) wire.Event { return wire.Event{Kind: wire.Ended, Program: name, Exit: exit} }
	tests := map[string]struct {
		events []wire.Event
		want   string
	}{
		"both through": {
			[]wire.Event{start("a"), end("a", 0), start("b"), end("b", 1), {Kind: wire.Done, Passed: 1, Failed: 1}}, "",
		},
		"one never started": {
			[]wire.Event{start("a"), end("a", 0), {Kind: wire.Done, Passed: 1}}, "of 2 binaries",
		},
		"one never ended": {
			[]wire.Event{start("a"), end("a", 0), start("b"), {Kind: wire.Done, Passed: 2}}, "counts 2 passed",
		},
		"one that nobody started": {[]wire.Event{end("a", 0)}, "did not start"},
		"the guest gave up":       {[]wire.Event{{Kind: wire.Failed, Text: []byte("no luck")}}, "gave up: no luck"},
		"not known":               {[]wire.Event{{Kind: "sung"}}, "not known"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := runner{job: Job{Binaries: []Binary{{Name: "a"}, {Name: "b"}}}}
			var last bool
			var err error
			for _, e := range test.events {
				if last, err = r.take(e); err != nil {
					break
				}
			}
			if test.want == "" {
				if err != nil || !last {
					t.Errorf("last %v, error %v", last, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}
