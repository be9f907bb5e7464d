//go:build linux

package topology

import (
	"fmt"

	"homeward/testenv/netlab"
)

// tally is how many of the requests that were made were answered.
type tally struct{ home, asked int }

// count counts the cells that a question is about.
func count(cells []netlab.Cell, about func(netlab.Cell) bool) tally {
	var t tally
	for _, c := range cells {
		if !about(c) {
			continue
		}
		t.asked++
		if c.Answered {
			t.home++
		}
	}
	return t
}

func (t tally) of(what string) string { return fmt.Sprintf("%d of %d %s", t.home, t.asked, what) }

// class is how the count is coloured: well only when nothing is missing.
func (t tally) class() string {
	if t.home == t.asked {
		return "good"
	}
	return "bad"
}

// ways is where the replies to the client behind the router went, in numbers of
// cells. A cell whose replies took both NICs counts for both.
type ways struct {
	// home reached the client; private left by the private NIC; stuck left by
	// neither, or in a form that the client does not know.
	home, private, stuck int
}

func waysOf(cells []netlab.Cell) ways {
	var w ways
	for _, c := range cells {
		if c.Client != netlab.ClientBehind {
			continue
		}
		private := c.Path == netlab.PathPrivate || c.Path == netlab.PathBoth
		switch {
		case c.Answered:
			w.home++
		case !private:
			w.stuck++
		}
		if private {
			w.private++
		}
	}
	return w
}

func byBackend(kind netlab.BackendKind) func(netlab.Cell) bool {
	return func(c netlab.Cell) bool { return c.Backend == kind }
}

func byClient(kind netlab.ClientKind) func(netlab.Cell) bool {
	return func(c netlab.Cell) bool { return c.Client == kind }
}
