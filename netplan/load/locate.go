package load

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"homeward/netplan"
)

// spot is where a canonical path stands in the file, or would.
type spot struct {
	path  string
	line  int // 0 when not even a parent is in the file
	found bool
}

// locate finds a canonical path. What is not in the file has the path it would
// have in the file's own layout and the line of its nearest parent.
func (d *document) locate(canonical string) spot {
	// netplan cannot know in which of its two forms an allowlist is given.
	for _, c := range []string{canonical, strings.Replace(canonical, ".hosts.", ".", 1), longForm(canonical)} {
		if v := d.values[c]; v != nil {
			return spot{path: v.path, line: v.line, found: true}
		}
	}
	missing := canonical
	for i := range keys {
		k := &keys[i]
		if k.path == canonical && k.also != "" && d.has(parent(k.also)) {
			missing = k.also
		}
	}
	above, rest := missing, ""
	for above != "" {
		if v := d.values[above]; v != nil {
			return spot{path: v.path + clean(rest), line: v.line}
		}
		above = parent(above)
		rest = missing[len(above):]
	}
	return spot{path: clean(missing)}
}

// longForm is where a host of an allowlist stands in the form with hosts.
func longForm(canonical string) string {
	name, host, ok := strings.Cut(strings.TrimPrefix(canonical, "security."), ".")
	if !ok || !within(canonical, "security") {
		return canonical
	}
	return "security." + name + ".hosts." + host
}

// join adds netplan's faults in the file's own words, except those that only
// follow from a mistake already found.
func (d *document) join(faults []netplan.Fault) {
	missing, places := map[string]bool{}, map[string]spot{}
	for _, f := range faults {
		missing[f.Path] = !d.has(f.Path)
		places[f.Path] = d.locate(f.Path)
	}
	// In file order, so that the first of each field are the ones that are shown.
	slices.SortStableFunc(faults, func(a, b netplan.Fault) int {
		return cmp.Or(cmp.Compare(places[a.Path].line, places[b.Path].line), cmp.Compare(a.Path, b.Path))
	})
	for _, f := range faults {
		if d.follows(f, missing) {
			continue
		}
		at := places[f.Path]
		message := strings.ReplaceAll(f.Message, f.Path, at.path)
		if f.Other != "" {
			other := d.locate(f.Other)
			message = strings.ReplaceAll(message, f.Other, other.path) + " (" + d.party(f.Other, other) + ")"
		}
		d.faults.add(pattern(f.Path), Located{Line: max(at.line, 1), Path: at.path, Message: d.inLayout(message)})
	}
}

// inLayout gives a message that names keys in the layout of the file.
func (d *document) inLayout(message string) string {
	for i := range keys {
		if k := &keys[i]; k.also != "" && strings.Contains(message, k.path) {
			message = strings.ReplaceAll(message, k.path, d.locate(k.path).path)
		}
	}
	return message
}

// party names the other party of a fault.
func (d *document) party(canonical string, at spot) string {
	if at.found {
		return fmt.Sprintf("%s, line %d", at.path, at.line)
	}
	for _, k := range keys {
		if k.path == canonical && k.def != "" {
			return at.path + ", the default"
		}
	}
	return at.path
}

// follows says that a fault of netplan's is the consequence of another one: of
// one found here, or of a whole section that is missing.
func (d *document) follows(f netplan.Fault, missing map[string]bool) bool {
	for _, path := range []string{f.Path, f.Other} {
		if d.blamed[path] || d.blamed[d.above(path)+".*"] {
			return true
		}
		for at := path; at != ""; at = d.above(at) {
			if d.tainted[at] || d.meant[at] && !d.has(at) {
				return true
			}
		}
	}
	for at := d.above(f.Path); at != "" && missing[f.Path]; at = d.above(at) {
		if missing[at] {
			return true
		}
	}
	return false
}

// above is what a canonical path stands in, empty at the top. The names of hosts
// may hold dots.
func (d *document) above(canonical string) string {
	if v := d.values[canonical]; v != nil {
		return v.above
	}
	return parent(canonical)
}

// pattern is a path with the operator's names as "*", to group faults by field.
func pattern(canonical string) string {
	for _, names := range []string{"workers", "machines", "security"} {
		rest, ok := strings.CutPrefix(canonical, names+".")
		if !ok {
			continue
		}
		for _, k := range keys {
			if tail, ok := strings.CutPrefix(k.path, names+".*."); ok && strings.HasSuffix(rest, "."+tail) {
				return k.path
			}
		}
		return names + ".*"
	}
	return canonical
}

// placeWarnings gives a plan's warnings the file's paths and lines, and adds the
// loader's own.
func (d *document) placeWarnings(p *netplan.Plan) {
	for i := range p.Warnings {
		w := &p.Warnings[i]
		at := d.locate(w.Path)
		w.Path, w.Line = at.path, at.line
	}
	p.Warnings = append(p.Warnings, d.warnings...)
}
