package ledger

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const goodComment = "homeward/1 owner=0123456789abcdef cluster=edge for=ingress state=held since=2026-11-30T17:25:00Z"

func goodRecord() Record {
	return Record{
		Owner:   Owner{ID: "0123456789abcdef", Cluster: "edge"},
		Purpose: ForIngress, State: Held,
		Since: time.Date(2026, 11, 30, 17, 25, 0, 0, time.UTC),
	}
}

func TestACommentIsWrittenAsTheGrammarSays(t *testing.T) {
	if got := goodRecord().String(); got != goodComment {
		t.Errorf("got  %s\nwant %s", got, goodComment)
	}
}

func TestReadableComments(t *testing.T) {
	later := goodRecord()
	later.Extra = []string{"tool=v2", "later", "tool=v3"}
	for name, c := range map[string]struct {
		comment string
		want    Record
	}{
		"as written":             {goodComment, goodRecord()},
		"unknown words in order": {goodComment + " tool=v2 later tool=v3", later},
		"unknown words between":  {strings.Replace(goodComment, " cluster", " tool=v2 later cluster", 1) + " tool=v3", later},
		"another order":          {"homeward/1 since=2026-11-30T17:25:00Z state=held for=ingress cluster=edge owner=0123456789abcdef", goodRecord()},
		"spaces by hand":         {"  " + strings.ReplaceAll(goodComment, " ", "  ") + " ", goodRecord()},
		"another time zone":      {strings.Replace(goodComment, "17:25:00Z", "18:25:00+01:00", 1), goodRecord()},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseRecord(c.comment)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWhatCannotBeReadBelongsToSomebodyElse(t *testing.T) {
	swap := func(old, new string) string { return strings.Replace(goodComment, old, new, 1) }
	for name, c := range map[string]struct{ comment, says string }{
		"empty":               {"", "homeward/1"},
		"prose":               {"printers, ask the office", "homeward/1"},
		"another version":     {swap("homeward/1", "homeward/2"), "homeward/1"},
		"a longer version":    {swap("homeward/1", "homeward/10"), "homeward/1"},
		"missing owner":       {swap("owner=0123456789abcdef ", ""), "owner is missing"},
		"missing cluster":     {swap("cluster=edge ", ""), "cluster is missing"},
		"missing purpose":     {swap("for=ingress ", ""), "for is missing"},
		"missing state":       {swap("state=held ", ""), "state is missing"},
		"missing since":       {swap(" since=2026-11-30T17:25:00Z", ""), "since is missing"},
		"two clusters":        {goodComment + " cluster=edge", "cluster stands there twice"},
		"short id":            {swap("abcdef", "abcde"), "owner"},
		"upper-case id":       {swap("abcdef", "ABCDEF"), "owner"},
		"cluster in capitals": {swap("edge", "Edge"), "cluster"},
		"empty cluster":       {swap("edge", ""), "cluster"},
		"unknown purpose":     {swap("ingress", "egress"), "for"},
		"unknown state":       {swap("held", "sold"), "state"},
		"no date":             {swap("2026-11-30T17:25:00Z", "yesterday"), "since"},
		"a year out of range": {swap("2026-", "1926-"), "since"},
		"a hash":              {goodComment + " a#b", `'#'`},
		"a newline":           {goodComment + "\n1.2.3.4", `'\n'`},
		"a tab":               {swap(" ", "\t"), `'\t'`},
		"not ASCII":           {goodComment + " caf\u00e9", "byte"},
		"4 KiB":               {goodComment + " " + strings.Repeat("x", 4096), "more than 1024"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ParseRecord(c.comment)
			if !errors.Is(err, ErrNotOurs) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want ErrNotOurs that says %q", err, c.says)
			}
			if e := NewEntry(single(goodAddress).Prefix, c.comment); e.Readable || e.OwnedBy(r.Owner) || e.OwnedBy(goodRecord().Owner) {
				t.Error("the entry counts as ours")
			}
		})
	}
}

func TestAPrefixOfAClusterNameIsAnotherCluster(t *testing.T) {
	ours := goodRecord()
	for name, owner := range map[string]Owner{
		"our name is the prefix":      {ID: ours.Owner.ID, Cluster: "edge-2"},
		"their name is the prefix":    {ID: ours.Owner.ID, Cluster: "edg"},
		"same name with another id":   {ID: "0123456789abcdee", Cluster: "edge"},
		"same id with another name":   {ID: ours.Owner.ID, Cluster: "lab"},
		"name with a dot where - was": {ID: ours.Owner.ID, Cluster: "edge.2"},
	} {
		t.Run(name, func(t *testing.T) {
			theirs := ours
			theirs.Owner = owner
			if e := NewEntry(single(goodAddress).Prefix, theirs.String()); !e.Readable || e.OwnedBy(ours.Owner) || !e.OwnedBy(owner) {
				t.Errorf("%+v: readable %v, ours %v", owner, e.Readable, e.OwnedBy(ours.Owner))
			}
		})
	}
}

func TestAnEntryOfManyAddressesIsNobodys(t *testing.T) {
	if e := NewEntry(widePrefix, goodComment); e.OwnedBy(goodRecord().Owner) {
		t.Error("a copied comment on a /28 counts as ours")
	}
}

func TestCheckRefusesWhatCouldNotBeReadAgain(t *testing.T) {
	for name, spoil := range map[string]func(*Record){
		"id":              func(r *Record) { r.Owner.ID = "x" },
		"cluster":         func(r *Record) { r.Owner.Cluster = "a b" },
		"purpose":         func(r *Record) { r.Purpose = "" },
		"state":           func(r *Record) { r.State = "" },
		"extra newline":   func(r *Record) { r.Extra = []string{"a\nb"} },
		"extra two words": func(r *Record) { r.Extra = []string{"a b"} },
		"extra known":     func(r *Record) { r.Extra = []string{"owner=0123456789abcdef"} },
		"extra empty":     func(r *Record) { r.Extra = []string{""} },
	} {
		t.Run(name, func(t *testing.T) {
			r := goodRecord()
			if err := r.Check(); err != nil {
				t.Fatal(err)
			}
			spoil(&r)
			if r.Check() == nil {
				t.Errorf("%q passes", r)
			}
		})
	}
}

func FuzzParseRecord(f *testing.F) {
	for _, s := range []string{goodComment, "", "homeward/1", goodComment + " a=b c", "homeward/1 for=kubeapi", goodComment + "\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRecord(s)
		if err != nil {
			if !errors.Is(err, ErrNotOurs) || !cmp.Equal(r, Record{}) {
				t.Fatalf("%+v with error %v", r, err)
			}
			return
		}
		text := r.String()
		if err := plain(text); err != nil && len(text) <= maxComment {
			t.Fatalf("%q: %v", text, err)
		}
		again, err := ParseRecord(text)
		if len(text) <= maxComment && (err != nil || !cmp.Equal(r, again)) {
			t.Fatalf("%q reads as %+v (%v), was %+v", text, again, err, r)
		}
		if again.String() != text && len(text) <= maxComment {
			t.Fatalf("%q is written as %q", text, again)
		}
	})
}
