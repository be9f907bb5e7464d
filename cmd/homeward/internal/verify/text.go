package verify

import (
	"strings"
	"unicode"
)

// mostText is how many bytes of a foreign text one line repeats.
const mostText = 300

// plain makes a text from the cluster fit for a terminal: one line, without control
// characters, and not too long.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return '?'
		}
		return r
	}, s)
	if len(s) > mostText {
		s = strings.ToValidUTF8(s[:mostText], "") + "..."
	}
	return s
}
