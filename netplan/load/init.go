package load

import (
	"bytes"
	"fmt"
	"strings"
)

// Init gives a commented cluster.yaml to start from: what a cluster needs as
// active lines, everything else as comments with its default or an example. It
// loads without a fault.
func Init() []byte {
	var b bytes.Buffer
	b.WriteString(initHead)
	r := rooms()
	for _, name := range r.order {
		c := r.children[name]
		if c.key.kind == refused || c.key.kind == foreign {
			continue
		}
		b.WriteByte('\n')
		c.comment(&b, name, 0, -1)
	}
	return b.Bytes()
}

const initHead = `# cluster.yaml: the address plan of one Talos cluster with two NICs per machine.
#
# Change the addresses to yours, then: homeward plan -f cluster.yaml
# A key behind a "#" is not needed and shows its default or an example: take the
# "#" away to give it. Keys of other tools may stand in this file too.
`

// margin is what stands before a line: the indent, and where the line is
// commented out, a "#" at the depth of the outermost key that is.
func margin(depth, out int) string {
	if out < 0 {
		return strings.Repeat("  ", depth)
	}
	return strings.Repeat("  ", out) + "#" + strings.Repeat("  ", depth-out)
}

// comment writes one key, its explanation above it. Out is the depth of the
// section that is commented out around it, -1 for none. An explanation begins
// with "# ", a key that is commented out with "#", so that taking the "#" away
// makes it active.
func (r *room) comment(b *bytes.Buffer, name string, depth, out int) {
	k := r.key
	for _, line := range wrapped(k.doc, 88-2*depth) {
		fmt.Fprintf(b, "%s# %s\n", margin(depth, out), line)
	}
	if out < 0 && !k.shown {
		out = depth
	}
	if k.kind != section {
		fmt.Fprintf(b, "%s%s: %s\n", margin(depth, out), name, orDefault(k))
		return
	}
	fmt.Fprintf(b, "%s%s:\n", margin(depth, out), name)
	for _, child := range r.order {
		c := r.children[child]
		if c.key.kind == foreign || c.key.kind == credential || c.second || hasSecond(c) {
			continue
		}
		c.comment(b, child, depth+1, out)
	}
	if r.wild == nil {
		return
	}
	if child, value, ok := strings.Cut(r.wild.key.example, ": "); ok {
		fmt.Fprintf(b, "%s%s: %s\n", margin(depth+1, out), child, value)
	} else if r.wild.key.example != "" {
		r.wild.comment(b, r.wild.key.example, depth+1, out)
	}
}

// orDefault is what a key shows: its example, else its default.
func orDefault(k *key) string {
	if k.example != "" {
		return k.example
	}
	return k.def
}

// hasSecond says that a section is only the second place of other keys.
func hasSecond(r *room) bool {
	for _, c := range r.children {
		if c.second && c.key.path != r.key.path {
			return true
		}
	}
	return false
}

// wrapped breaks a text into lines of at most width bytes.
func wrapped(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
