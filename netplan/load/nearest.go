package load

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// distance is how many letters must be put in, left out, replaced or swapped
// with their neighbour to turn a into b (optimal string alignment). A swap is
// one step, for "vlna" is the commonest of all slips.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}

// longestKey is longer than any key with a slip in it; no distance is worked
// out for what is longer still.
const longestKey = 64

// fold undoes other habits of writing: podCIDR and pod-cidr are pod_cidr but for
// one letter at most.
func fold(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

// lettersOf gives which letters stand in a name, as bits; several letters may
// share one.
func lettersOf(name string) uint64 {
	var set uint64
	for _, r := range name {
		set |= 1 << (uint32(r) % 64)
	}
	return set
}

// nearest gives the candidate closest to name, which is none of them, within
// what allowed says for it, and false when none is. The first of equals wins.
func nearest(name string, candidates []string, allowed func(candidate string) int) (string, bool) {
	if len(name) > longestKey {
		return "", false
	}
	folded := fold(name)
	letters := lettersOf(folded)
	best, found := "", false
	bestDistance := 0
	for _, c := range candidates {
		most := allowed(c)
		if off := utf8.RuneCountInString(folded) - utf8.RuneCountInString(c); max(off, -off) > most {
			continue // no need to look closer
		}
		if bits.OnesCount64(letters&^lettersOf(c)) > most {
			continue // each slip accounts for one strange letter
		}
		d := max(distance(folded, c), 1)
		if d <= most && (!found || d < bestDistance) {
			best, bestDistance, found = c, d, true
		}
	}
	return best, found
}
