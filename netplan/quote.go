package netplan

import (
	"strconv"
	"unicode/utf8"
)

// quoteLimit is how many bytes of a foreign value an error repeats.
const quoteLimit = 64

// Quote makes a value of the operator's fit for an error or a terminal: quoted,
// control characters escaped, cut after 64 bytes.
func Quote(s string) string {
	if len(s) <= quoteLimit {
		return strconv.Quote(s)
	}
	cut := quoteLimit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "..."
}
