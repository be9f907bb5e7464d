package guests

import (
	"strings"

	"homeward/agent/ledger"
)

// mark is how what is ours is known again: the first words of its comment.
type mark struct{ owner ledger.Owner }

// markWord begins each comment: our name and the grammar's version.
const markWord = "homeward/1"

// comment is the comment of something of ours. It holds no character that the
// firewall's files give a meaning.
func (m mark) comment(what string) string {
	return markWord + " owner=" + m.owner.ID + " cluster=" + m.owner.Cluster + " for=" + what
}

// made says whether a comment is one of this cluster's. One that we cannot read is
// somebody else's.
func (m mark) made(comment string) bool {
	words := strings.Fields(comment)
	if len(words) == 0 || words[0] != markWord || m.owner.ID == "" {
		return false
	}
	owner, cluster := "", ""
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "owner":
			owner = value
		case "cluster":
			cluster = value
		}
	}
	return owner == m.owner.ID && cluster == m.owner.Cluster
}

// word makes an operator's name fit for a comment: what is not a letter, digit,
// dot, dash or underscore becomes a dash.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '-'
	}, s)
}
