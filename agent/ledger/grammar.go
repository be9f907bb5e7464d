package ledger

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"
)

// version is the first word of every comment of ours. Another number is another
// grammar, so its entries belong to somebody else.
const version = "homeward/1"

// maxComment is how long a comment of ours can be, in bytes: what is longer was
// not written by us, and no reader has to take it apart.
const maxComment = 1024

// The words of a comment besides the version, in the order in which they are
// written. They are read in any order.
const (
	wordOwner   = "owner"
	wordCluster = "cluster"
	wordFor     = "for"
	wordState   = "state"
	wordSince   = "since"
)

var (
	ownerID     = regexp.MustCompile(`^[0-9a-f]{16}$`)
	clusterName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
)

// ErrNotOurs is what ParseRecord fails with, whatever the reason: the entry
// belongs to somebody else.
var ErrNotOurs = errors.New("not a reservation this version can read")

// Check says whether o can stand in a record.
func (o Owner) Check() error {
	if !ownerID.MatchString(o.ID) {
		return fmt.Errorf("owner id %q: 16 lower-case hexadecimal digits are right, like 0123456789abcdef", o.ID)
	}
	if !clusterName.MatchString(o.Cluster) {
		return fmt.Errorf("cluster name %q: lower-case letters, digits, dashes and dots are right, and a letter or digit at both ends", o.Cluster)
	}
	return nil
}

// Check says whether r can be written down and read again.
func (r Record) Check() error {
	if err := r.Owner.Check(); err != nil {
		return err
	}
	again, err := ParseRecord(r.String())
	if err != nil {
		return err
	}
	if len(again.Extra) != len(r.Extra) {
		return fmt.Errorf("extra words %q: one of them holds a space or is empty", r.Extra)
	}
	return nil
}

// String is the comment of a record, one line of printable ASCII without a '#'
// when Check finds nothing wrong.
func (r Record) String() string {
	words := append([]string{
		version,
		wordOwner + "=" + r.Owner.ID,
		wordCluster + "=" + r.Owner.Cluster,
		wordFor + "=" + string(r.Purpose),
		wordState + "=" + string(r.State),
		wordSince + "=" + r.Since.UTC().Format(time.RFC3339),
	}, r.Extra...)
	return strings.Join(words, " ")
}

// ParseRecord reads a comment. It fails with ErrNotOurs, and says why, when the
// comment has another version, lacks a word, has one twice, or has a value that
// we would not have written.
func ParseRecord(comment string) (Record, error) {
	var r Record
	if err := plain(comment); err != nil {
		return Record{}, notOurs("%w", err)
	}
	words := strings.FieldsFunc(comment, func(c rune) bool { return c == ' ' })
	if len(words) == 0 || words[0] != version {
		return Record{}, notOurs("it does not begin with %s", version)
	}
	seen := map[string]bool{}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		known, err := r.take(key, value)
		switch {
		case err != nil:
			return Record{}, notOurs("%s: %w", key, err)
		case !known:
			r.Extra = append(r.Extra, word)
		case seen[key]:
			return Record{}, notOurs("%s stands there twice", key)
		}
		seen[key] = true
	}
	for _, key := range []string{wordOwner, wordCluster, wordFor, wordState, wordSince} {
		if !seen[key] {
			return Record{}, notOurs("%s is missing", key)
		}
	}
	return r, nil
}

// take reads one word into r; known is false for a word of a later version.
func (r *Record) take(key, value string) (known bool, err error) {
	bad := fmt.Errorf("%q is no value for it", value)
	switch key {
	case wordOwner:
		r.Owner.ID = value
		if !ownerID.MatchString(value) {
			return true, bad
		}
	case wordCluster:
		r.Owner.Cluster = value
		if !clusterName.MatchString(value) {
			return true, bad
		}
	case wordFor:
		r.Purpose = Purpose(value)
		if r.Purpose != ForIngress && r.Purpose != ForKubeAPI {
			return true, bad
		}
	case wordState:
		r.State = State(value)
		if r.State != Pending && r.State != Held {
			return true, bad
		}
	case wordSince:
		t, err := time.Parse(time.RFC3339, value)
		if err != nil {
			return true, bad
		}
		r.Since = t.UTC().Truncate(time.Second)
		if y := r.Since.Year(); y < 1970 || y > 9999 {
			return true, bad
		}
	default:
		return false, nil
	}
	return true, nil
}

// plain refuses what cannot stand in a firewall file's comment.
func plain(comment string) error {
	if len(comment) > maxComment {
		return fmt.Errorf("it has %d bytes, more than %d", len(comment), maxComment)
	}
	for i := range len(comment) {
		if c := comment[i]; c < ' ' || c > '~' || c == '#' {
			return fmt.Errorf("byte %d is %q", i, c)
		}
	}
	return nil
}

func notOurs(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrNotOurs, fmt.Errorf(format, args...))
}

// NewEntry gives the entry of prefix with a comment as it was read: this is how a
// Book makes the entries of its Page.
func NewEntry(prefix netip.Prefix, comment string) Entry {
	e := Entry{Prefix: prefix, Comment: comment}
	r, err := ParseRecord(comment)
	if err == nil {
		e.Record, e.Readable = r, true
	}
	return e
}
