package load

import (
	"regexp"
	"slices"
	"strings"

	"homeward/netplan"
)

// slip is how many letters may be wrong in a known key.
const slip = 2

// unknown decides about a key that the table does not have.
func (d *document) unknown(p place, e entry, given map[string]bool) {
	if p.room.strict && d.compared >= maxCompared && d.faults.countOnly(join(p.room.path(), "*")) {
		return // enough is known of this kind
	}
	shown := element(secretLike.ReplaceAllString(e.name, "[secret]"))
	q := place{room: &room{key: &key{path: join(p.room.path(), "*")}}, canonical: join(p.canonical, shown), path: join(p.path, shown), line: e.line}
	if p.room.strict {
		d.unknownStrict(p, q, e.name)
		return
	}
	near, ok := d.nearest(e.name, p.room.order, func(candidate string) int {
		if given[candidate] || len(candidate) <= 3 {
			return 1
		}
		return slip
	})
	if ok {
		d.guess(p.below(p.room.children[near], near, 0))
		d.fault(q, "unknown key: did you mean %s?", near)
		return
	}
	d.unused = append(d.unused, Key{Path: q.path, Line: q.line})
	if rooms := telling(e.name); len(rooms) > 0 {
		d.warnings = append(d.warnings, netplan.Warning{Path: q.path, Line: q.line, Message: "is not read here: it belongs at " + strings.Join(rooms, " or ")})
	}
}

// secretLike is what a secret looks like that somebody has pasted where a key stands, or
// most of one: a token's of Proxmox (a UUID), an application credential's of Keystone (86
// characters of base64). No key of ours, and hardly one of others, is as long.
var secretLike = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9A-Za-z-]{20,}|[0-9A-Za-z_+/=.~-]{32,}`)

// unknownStrict refuses a key, with the place or the name that was meant.
func (d *document) unknownStrict(p, q place, name string) {
	if inNetwork(p.room.path()) {
		if rooms := elsewhere(name, q.canonical); len(rooms) > 0 {
			for _, r := range rooms {
				d.meant[r] = true
			}
			d.fault(q, "the key does not belong here: give it at %s", strings.Join(rooms, " or "))
			return
		}
	}
	near, ok := d.nearest(name, p.room.order, func(c string) int { return max(slip, len(c)/3) })
	if ok {
		d.guess(p.below(p.room.children[near], near, 0))
		d.fault(q, "unknown key: did you mean %s?", near)
		return
	}
	known := slices.DeleteFunc(slices.Clone(p.room.order), func(name string) bool { return p.room.children[name].key.kind == credential })
	d.fault(q, "unknown key: known here are %s", strings.Join(known, ", "))
}

// maxCompared is how many unknown keys of a file are compared with the known
// ones: aliases make a small file hold a million of them.
const maxCompared = 5000

// nearest gives the known key that an unknown one was probably meant to be.
func (d *document) nearest(name string, known []string, allowed func(string) int) (string, bool) {
	if d.compared >= maxCompared {
		return "", false
	}
	d.compared++
	return nearest(name, known, allowed)
}

// guess notes the key that an unknown one was meant to be.
func (d *document) guess(p place) {
	d.meant[p.canonical] = true
	for _, path := range secondsIn(p.canonical) {
		d.meant[path] = true
	}
	for _, b := range p.room.key.blames {
		d.blamed[b] = true
	}
}

// telling gives the places of a key whose name no other tool would use by
// chance: it has more than one word and is ours.
func telling(name string) []string {
	if !strings.Contains(name, "_") {
		return nil
	}
	var rooms []string
	for _, k := range keys {
		if last(k.path) == name && k.kind != credential && !k.common {
			rooms = append(rooms, k.path)
		}
	}
	return rooms
}
