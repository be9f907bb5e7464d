package monitoring

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// selector is a metric that an expression names, with what it asks of labels.
type selector struct {
	Metric   string
	Matchers []matcher
}

type matcher struct{ Label, Op, Value string }

// reading is what an expression refers to.
type reading struct {
	Selectors []selector
	Labels    []string // of by, without, on, ignoring, group_left, group_right
}

// lexeme splits PromQL: strings, names, ranges, operators, and all else as words.
var lexeme = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'|\[[^\]]*\]|[a-zA-Z_:][a-zA-Z0-9_:]*|[0-9][0-9a-zA-Z.]*|=~|!~|!=|==|>=|<=|[^\s]`)

var (
	name      = regexp.MustCompile(`^[a-zA-Z_:]`)
	groupings = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}
	words     = []string{"and", "or", "unless", "bool", "offset", "inf", "nan"}
)

// reader goes through an expression that promtool has accepted; it refuses only
// what it would misread.
type reader struct {
	tokens []string
	at     int
	got    reading
}

func readPromQL(expr string) (reading, error) {
	r := reader{tokens: lexeme.FindAllString(expr, -1)}
	for r.at < len(r.tokens) {
		if err := r.next(); err != nil {
			return reading{}, fmt.Errorf("%w in %s", err, expr)
		}
	}
	return r.got, nil
}

func (r *reader) peek() string {
	if r.at < len(r.tokens) {
		return r.tokens[r.at]
	}
	return ""
}

func (r *reader) take() string {
	token := r.peek()
	r.at++
	return token
}

func (r *reader) next() error {
	token := r.take()
	switch {
	case token == "{":
		return errors.New("a selector without a metric's name")
	case !name.MatchString(token) || slices.Contains(words, token):
		return nil
	case slices.Contains(groupings, token):
		if r.peek() != "(" {
			return nil // group_left without labels
		}
		for r.take(); r.peek() != ")" && r.peek() != ""; {
			if label := r.take(); label != "," {
				r.got.Labels = append(r.got.Labels, label)
			}
		}
		return nil
	case r.peek() == "(" || slices.Contains(groupings[:2], r.peek()):
		return nil // a function or an aggregation
	}
	s := selector{Metric: token}
	if r.peek() == "{" {
		r.take()
		for r.peek() != "}" {
			m, err := r.matcher()
			if err != nil {
				return err
			}
			s.Matchers = append(s.Matchers, m)
		}
		r.take()
	}
	r.got.Selectors = append(r.got.Selectors, s)
	return nil
}

func (r *reader) matcher() (m matcher, err error) {
	m.Label, m.Op = r.take(), r.take()
	if m.Value, err = strconv.Unquote(r.take()); err != nil {
		return m, errors.New("a matcher without a quoted value")
	}
	if r.peek() == "," {
		r.take()
	}
	return m, nil
}

func TestReadPromQL(t *testing.T) {
	for expr, want := range map[string]reading{
		"a == 0": {Selectors: []selector{{Metric: "a"}}},
		`sum by (x, y) (rate(a_total{k="v",l=~"p|q"}[5m])) > 1.5e3 or vector(0)`: {
			Selectors: []selector{{"a_total", []matcher{{"k", "=", "v"}, {"l", "=~", "p|q"}}}}, Labels: []string{"x", "y"}},
		`a{k="b{c}"} * on (x) group_left max without (y) (d offset 5m)`: {
			Selectors: []selector{{"a", []matcher{{"k", "=", "b{c}"}}}, {Metric: "d"}}, Labels: []string{"x", "y"}},
		"sum(a) by (z) unless on () b[$__rate_interval]": {Selectors: []selector{{Metric: "a"}, {Metric: "b"}}, Labels: []string{"z"}},
		"time() - s:rule:x": {Selectors: []selector{{Metric: "s:rule:x"}}},
	} {
		got, err := readPromQL(expr)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", expr, err, diff)
		}
	}
	for _, expr := range []string{`{__name__="a"}`, "a{k=v}", `a{k="v"`} {
		if got, err := readPromQL(expr); err == nil {
			t.Errorf("%s is read as %+v", expr, got)
		}
	}
}
