package load

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"homeward/netplan"
)

// Init gives a commented cluster.yaml to start from: what a cluster of that provider
// needs as active lines, everything else as comments with its default or an example.
// It loads without a fault or a warning.
func Init(provider netplan.Provider) []byte {
	c := commented{provider: provider}
	c.out.WriteString(initHeads[provider])
	r := rooms()
	for _, name := range r.order {
		k := r.children[name].key
		if k.kind == foreign || !c.has(k) {
			continue
		}
		c.out.WriteByte('\n')
		c.comment(r.children[name], name, 0, -1)
	}
	return c.out.Bytes()
}

const initTail = `#
# Change the addresses to yours, then: homeward plan -f cluster.yaml
# A key behind a "#" is not needed and shows its default or an example: take the
# "#" away to give it. Keys of other tools may stand in this file too.
`

var initHeads = map[netplan.Provider]string{
	netplan.Proxmox:   "# cluster.yaml: the address plan of one Talos cluster with two NICs per machine.\n" + initTail,
	netplan.OpenStack: "# cluster.yaml: the address plan of one Talos cluster on OpenStack.\n" + initTail,
}

// commented is a file that is being written for one provider.
type commented struct {
	out      bytes.Buffer
	provider netplan.Provider
}

// has says that a key has a meaning there.
func (c *commented) has(k *key) bool { return k.only == "" || k.only == c.provider }

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
func (c *commented) comment(r *room, name string, depth, out int) {
	k := r.key
	doc, value, lines := k.doc, cmp.Or(k.example, k.def), []string(nil)
	if c.provider == netplan.OpenStack {
		doc, value, lines = cmp.Or(k.cloud.doc, doc), cmp.Or(k.cloud.example, value), k.cloud.lines
	}
	for _, line := range wrapped(doc, 88-2*depth) {
		fmt.Fprintf(&c.out, "%s# %s\n", margin(depth, out), line)
	}
	if out < 0 && !k.shown && lines == nil {
		out = depth
	}
	if k.kind != section {
		fmt.Fprintf(&c.out, "%s%s: %s\n", margin(depth, out), name, value)
		return
	}
	fmt.Fprintf(&c.out, "%s%s:\n", margin(depth, out), name)
	for _, line := range lines {
		fmt.Fprintf(&c.out, "%s%s\n", margin(depth+1, out), line)
	}
	for _, child := range r.order {
		below := r.children[child]
		if !c.has(below.key) || below.key.kind == foreign || below.key.kind == credential || below.second || hasSecond(below) {
			continue
		}
		c.comment(below, child, depth+1, out)
	}
	if r.wild == nil {
		return
	}
	if child, value, ok := strings.Cut(r.wild.key.example, ": "); ok {
		fmt.Fprintf(&c.out, "%s%s: %s\n", margin(depth+1, out), child, value)
	} else if r.wild.key.example != "" {
		c.comment(r.wild, r.wild.key.example, depth+1, out)
	}
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
