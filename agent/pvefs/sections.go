package pvefs

import (
	"fmt"
	"slices"
	"strings"

	"homeward/netplan"
)

// section is one entry of a file like zones.cfg:
//
//	vlan: z1
//		bridge vmbr0
//		ipam pve
type section struct {
	kind, name string
	// values has each property's values, in order: some stand on several lines.
	values map[string][]string
}

// get gives the first value of a property, empty without one.
func (s section) get(key string) string {
	if list := s.values[key]; len(list) > 0 {
		return list[0]
	}
	return ""
}

// same says whether both are one entry with the same values for these keys.
func (s section) same(o section, keys []string) bool {
	return s.name == o.name && s.kind == o.kind && !slices.ContainsFunc(keys, func(key string) bool {
		return !slices.Equal(s.values[key], o.values[key])
	})
}

// parseSections reads such a file. A line that is neither a head nor a property of
// one is an error; what comes before it is still given.
func parseSections(text string) ([]section, error) {
	var out []section
	open := false
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, " \t\r\n")
		switch trimmed := strings.TrimLeft(line, " \t"); {
		case trimmed == "":
			open = false
		case trimmed[0] == '#':
		case trimmed != line: // indented
			if !open {
				return out, fmt.Errorf("line %d: %s stands in no section", number, netplan.Quote(trimmed))
			}
			key, value := trimmed, ""
			if at := strings.IndexAny(trimmed, " \t"); at >= 0 {
				key, value = trimmed[:at], trimmed[at:]
			}
			last := out[len(out)-1].values
			last[key] = append(last[key], strings.TrimSpace(value))
		default:
			kind, name, ok := strings.Cut(line, ":")
			name = strings.TrimSpace(name)
			if !ok || name == "" || strings.ContainsAny(kind+name, " \t") {
				return out, fmt.Errorf("line %d: %s begins no section", number, netplan.Quote(line))
			}
			out = append(out, section{kind: kind, name: name, values: map[string][]string{}})
			open = true
		}
	}
	return out, nil
}
