package guests

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// quoted makes one word of s in any POSIX shell: as it is where nothing in it means
// anything to a shell.
func quoted(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/._-+:,=@", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// pvesh is a command that makes a request; verb is set, create or delete.
func pvesh(verb, path string, options map[string]string) string {
	words := []string{"pvesh", verb, path}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		words = append(words, "--"+key, options[key])
	}
	for i, w := range words {
		words[i] = quoted(w)
	}
	return strings.Join(words, " ")
}

// qmSet is the command that sets one key of a guest's configuration.
func (a Actual) qmSet(key, value string) string {
	return strings.Join([]string{"qm set", strconv.Itoa(a.VMID), quoted("--" + key), quoted(value)}, " ")
}

// plainPath is a path for pvesh, which takes it as it is.
func (a Actual) plainPath(below string) string {
	return "/nodes/" + a.Node + "/qemu/" + strconv.Itoa(a.VMID) + "/" + below
}
