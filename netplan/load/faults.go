package load

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Located is one mistake and where it stands.
type Located struct {
	// Line is 1-based. A missing key has the line of its nearest parent, 1
	// where there is none.
	Line int `json:"line"`
	// Path is the key's path as the file has it; empty where the whole file is
	// wrong.
	Path string `json:"path"`
	// Message says what is wrong and what would be right, in one line without
	// control characters.
	Message string `json:"message"`
}

// Faults are all mistakes of one file, in file order; never empty.
type Faults struct {
	File string
	List []Located
}

// Error gives one line for each fault: "cluster.yaml:17: field.path: message".
func (f *Faults) Error() string {
	lines := make([]string, len(f.List))
	for i, l := range f.List {
		lines[i] = fmt.Sprintf("%s:%d: ", clean(f.File), l.Line)
		if l.Path != "" {
			lines[i] += l.Path + ": "
		}
		lines[i] += l.Message
	}
	return strings.Join(lines, "\n")
}

// maxPerGroup is how many faults of one field (in all entries of its list, in
// all machines) are shown; a wrong template must not bury the other mistakes.
const maxPerGroup = 20

// collector gathers faults and keeps every group to maxPerGroup.
type collector struct {
	groups map[string]*group
}

// group is the faults of one field.
type group struct {
	count int
	shown []Located
	first Located // the first that is not shown
}

// add takes one fault, once. Name is the field's path in the table.
func (c *collector) add(name string, l Located) {
	if c.groups == nil {
		c.groups = map[string]*group{}
	}
	g := c.groups[name]
	if g == nil {
		g = &group{}
		c.groups[name] = g
	}
	l.Message = clean(l.Message)
	if slices.Contains(g.shown, l) {
		return
	}
	g.count++
	switch {
	case g.count <= maxPerGroup:
		g.shown = append(g.shown, l)
	case g.count == maxPerGroup+1:
		g.first = l
	}
}

// countOnly counts one more fault of a group of which enough is known, false
// where it must still be added.
func (c *collector) countOnly(name string) bool {
	g := c.groups[name]
	if g == nil || g.count <= maxPerGroup {
		return false
	}
	g.count++
	return true
}

// sorted gives the faults in file order.
func (c *collector) sorted() []Located {
	var list []Located
	for _, g := range c.groups {
		list = append(list, g.shown...)
		if more := g.count - maxPerGroup; more > 0 {
			rest := Located{Line: g.first.Line, Path: g.first.Path, Message: "and 1 more fault of this kind"}
			if more > 1 {
				rest.Message = fmt.Sprintf("and %d more faults of this kind", more)
			}
			list = append(list, rest)
		}
	}
	slices.SortStableFunc(list, func(a, b Located) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message))
	})
	return list
}

// clean replaces what would move a terminal's cursor.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return '?'
		}
		return r
	}, s)
}
