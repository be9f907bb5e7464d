package verify

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Format is the number of the JSON form. Fields are added without a new number.
const Format = 1

// Result is what a check came to. Its text is stable.
type Result string

// The results.
const (
	Pass Result = "pass"
	// Warn: what is seen works, and should be known.
	Warn Result = "warn"
	Fail Result = "fail"
	// Unknown: the check could not be made.
	Unknown Result = "unknown"
	// Skipped: the plan has nothing of the kind.
	Skipped Result = "skipped"
)

// Report is what all checks came to. Its JSON form is a contract: fields are added,
// never renamed. Slices are never nil.
type Report struct {
	Format  int    `json:"format"`
	Cluster string `json:"cluster"`
	// Server is the API server that was asked; empty where none could be.
	Server string    `json:"server,omitempty"`
	Taken  time.Time `json:"taken"`
	// Counts has every result.
	Counts map[Result]int `json:"counts"`
	Checks []Finding      `json:"checks"`
}

// Finding is what one check came to.
type Finding struct {
	// ID is stable.
	ID     string `json:"id"`
	Title  string `json:"title"`
	Result Result `json:"result"`
	// Seen is what was seen, the worst first; why a check was skipped or could not be
	// made is here too.
	Seen []string `json:"seen"`
	// Unseen is what this check does not show even where it passes; mostly empty.
	Unseen string `json:"unseen,omitempty"`
	// Why says what breaks when the check fails.
	Why string `json:"why"`
	// Remedies are for what was seen; empty for what passes.
	Remedies []Remedy `json:"remedies"`
	// Allowed says that the operator lets this check be unknown.
	Allowed bool `json:"allowed,omitempty"`
}

// Remedy is one thing to do. Command may be empty; capital letters in it are to be
// filled in.
type Remedy struct {
	Text    string `json:"text"`
	Command string `json:"command,omitempty"`
}

// With gives the IDs of the checks with a result, in the order of the checks. Checks
// that may be unknown are not among those that are.
func (r Report) With(result Result) []string {
	var ids []string
	for _, f := range r.Checks {
		if f.Result == result && !f.Allowed {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// notes are what one check gathers.
type notes struct {
	lines    []line
	unseen   string
	remedies []Remedy
	skipped  bool
}

// line is one thing seen and what it makes of the check.
type line struct {
	result Result
	text   string
}

// weight orders results: a check is what its worst line is.
var weight = map[Result]int{Pass: 0, Warn: 1, Unknown: 2, Fail: 3}

func (n *notes) add(r Result, format string, args []any) {
	n.lines = append(n.lines, line{r, fmt.Sprintf(format, args...)})
}

func (n *notes) saw(format string, args ...any)     { n.add(Pass, format, args) }
func (n *notes) warn(format string, args ...any)    { n.add(Warn, format, args) }
func (n *notes) fail(format string, args ...any)    { n.add(Fail, format, args) }
func (n *notes) unknown(format string, args ...any) { n.add(Unknown, format, args) }

// skip says that there is nothing to check.
func (n *notes) skip(format string, args ...any) {
	n.skipped = true
	n.add(Pass, format, args)
}

// remedy is given once, however often it is asked for.
func (n *notes) remedy(text, command string) {
	if r := (Remedy{text, command}); !slices.Contains(n.remedies, r) {
		n.remedies = append(n.remedies, r)
	}
}

// finding is what the check came to. A check that saw nothing at all is unknown:
// silence is no pass.
func (n *notes) finding(c check) Finding {
	f := Finding{ID: c.id, Title: c.title, Why: c.why, Result: Pass, Seen: []string{}, Unseen: n.unseen, Remedies: []Remedy{}}
	if len(n.lines) == 0 {
		n.unknown("nothing was seen")
	}
	slices.SortStableFunc(n.lines, func(a, b line) int { return weight[b.result] - weight[a.result] })
	for _, l := range n.lines {
		f.Seen = append(f.Seen, l.text)
	}
	if f.Result = n.lines[0].result; n.skipped && f.Result == Pass {
		f.Result = Skipped
	}
	if f.Result != Pass && f.Result != Skipped {
		f.Remedies = append(f.Remedies, n.remedies...)
	}
	return f
}

// mostNamed is how many names one line has.
const mostNamed = 12

// named lists names in one line.
func named(names []string) string {
	if len(names) <= mostNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
