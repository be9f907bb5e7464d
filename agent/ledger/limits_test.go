package ledger

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stubborn is a book that gives errors before it does what is asked.
type stubborn struct {
	Book
	// errs are what the next requests of an operation come to; nil lets one through.
	errs map[Op][]error
	made []Request
}

func (s *stubborn) fails(req Request) error {
	s.made = append(s.made, req)
	list := s.errs[req.Op]
	if len(list) == 0 {
		return nil
	}
	s.errs[req.Op] = list[1:]
	return list[0]
}

func (s *stubborn) Read(ctx context.Context) (Page, error) {
	if err := s.fails(Request{Op: OpRead}); err != nil {
		return Page{}, err
	}
	return s.Book.Read(ctx)
}

func (s *stubborn) Create(ctx context.Context) error {
	return orElse(s.fails(Request{Op: OpCreate}), func() error { return s.Book.Create(ctx) })
}

func (s *stubborn) Add(ctx context.Context, a addr, r Record) error {
	return orElse(s.fails(Request{Op: OpAdd, Address: a}), func() error { return s.Book.Add(ctx, a, r) })
}

func (s *stubborn) Change(ctx context.Context, a addr, r Record, v string) error {
	return orElse(s.fails(Request{Op: OpChange, Address: a}), func() error { return s.Book.Change(ctx, a, r, v) })
}

func (s *stubborn) Remove(ctx context.Context, a addr, v string) error {
	return orElse(s.fails(Request{Op: OpRemove, Address: a}), func() error { return s.Book.Remove(ctx, a, v) })
}

func (s *stubborn) Drop(ctx context.Context) error {
	return orElse(s.fails(Request{Op: OpDrop}), func() error { return s.Book.Drop(ctx) })
}

func orElse(err error, otherwise func() error) error {
	if err != nil {
		return err
	}
	return otherwise()
}

func repeat(err error, n int) []error { return slices.Repeat([]error{err}, n) }

func TestErrorsAreBounded(t *testing.T) {
	wrapped := errors.Join(errors.New("adding"), ErrUnknown)
	for name, c := range map[string]struct {
		errs    map[Op][]error
		outcome Outcome
		is      error
		left    []string
		unsure  int
	}{
		"busy for a while":             {map[Op][]error{OpAdd: repeat(ErrBusy, 5)}, Done, nil, []string{"1 ours held ingress 2026", "2 ours held ingress 2026"}, 0},
		"busy for ever":                {map[Op][]error{OpAdd: append([]error{nil}, repeat(ErrBusy, 99)...)}, Failed, ErrBusy, nil, 0},
		"unknown a few times":          {map[Op][]error{OpAdd: repeat(wrapped, 3), OpChange: repeat(ErrUnknown, 3)}, Done, nil, []string{"1 ours held ingress 2026", "2 ours held ingress 2026"}, 0},
		"unknown for ever":             {map[Op][]error{OpAdd: append([]error{nil}, repeat(wrapped, 99)...)}, Unknown, ErrUnknown, []string{"1 ours pending ingress 2026"}, 1},
		"an error nobody knows":        {map[Op][]error{OpChange: repeat(errors.New("eh"), 99)}, Unknown, nil, []string{"1 ours pending ingress 2026", "2 ours pending ingress 2026"}, 1},
		"refused at the second":        {map[Op][]error{OpAdd: {nil, ErrRefused}}, Failed, ErrRefused, nil, 0},
		"refused to read":              {map[Op][]error{OpRead: repeat(ErrRefused, 99)}, Failed, ErrRefused, nil, 0},
		"unread for ever":              {map[Op][]error{OpRead: repeat(ErrUnknown, 99)}, Unknown, ErrUnknown, nil, 0},
		"overtaken often":              {map[Op][]error{OpChange: repeat(ErrStale, 100)}, Done, nil, []string{"1 ours held ingress 2026", "2 ours held ingress 2026"}, 0},
		"overtaken for ever":           {map[Op][]error{OpChange: repeat(ErrStale, 9999)}, Failed, ErrStale, nil, 0},
		"taken and never shown":        {map[Op][]error{OpAdd: repeat(ErrTaken, 9999)}, Failed, ErrTaken, nil, 0},
		"the roll-back is refused too": {map[Op][]error{OpAdd: {nil, ErrRefused}, OpRemove: repeat(ErrRefused, 9)}, Failed, ErrRefused, []string{"1 ours pending ingress 2026"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := reserve(wants(ForIngress, 1, 2))
			result, page, _ := run(t, Page{}, c.errs, m, err)
			if result.Outcome != c.outcome || c.is != nil && !errors.Is(result.Err, c.is) || (c.outcome != Done) != (result.Err != nil) {
				t.Errorf("%+v", result)
			}
			if d := cmp.Diff(c.left, lines(page), byValue); d != "" {
				t.Error(d)
			}
			if len(result.Uncertain) != c.unsure {
				t.Errorf("uncertain %v", result.Uncertain)
			}
			if refused := name == "the roll-back is refused too"; refused != (len(result.Left) > 0) {
				t.Errorf("left %v", result.Left)
			}
		})
	}
}

// TestLeftoversOfAnotherPlanLockNobodyUp lets two with leftovers out of order go by
// turns, so that nobody is slow enough to lose patience: exactly one gets its plan.
func TestLeftoversOfAnotherPlanLockNobodyUp(t *testing.T) {
	for _, head := range []int{0, 1, 2, 3, 4, 5} {
		for first := range 2 {
			book := NewRehearsal(has(has(Page{}, ours, Pending, 2), theirs, Pending, 1))
			machines := make([]Machine, 2)
			for i, o := range []Owner{ours, theirs} {
				m, err := NewReserve(o, wants(ForIngress, 1, 2), now, DefaultLimits())
				if err != nil {
					t.Fatal(err)
				}
				machines[i] = m
			}
			step := func(i int) bool {
				req := machines[i].Next()
				machines[i].Take(req.Do(context.Background(), book))
				return req.Op != OpDone
			}
			for range head {
				step(first)
			}
			for going := true; going; {
				one, other := step(first), step(1-first)
				going = one || other
			}
			a, b := machines[0].Result().Outcome, machines[1].Result().Outcome
			if (a == Done) == (b == Done) {
				t.Errorf("%d begins %d requests ahead: %s and %s", first, head, a, b)
			}
		}
	}
}

// TestALoserSaysWhatMayYetBeWritten loses after an addition without an answer that
// is not done, and not known to be given up either.
func TestALoserSaysWhatMayYetBeWritten(t *testing.T) {
	m, err := reserve(wants(ForIngress, 1, 2))
	start := has(Page{}, theirs, Pending, 2)
	result, page, _ := run(t, start, map[Op][]error{OpAdd: {ErrUnknown}}, m, err)
	if result.Outcome != Unknown || !slices.Equal(result.Uncertain, []addr{at(1)}) || len(result.Conflicts) != 1 {
		t.Errorf("%+v", result)
	}
	if d := cmp.Diff([]string{"2 theirs pending ingress 2026"}, lines(page)); d != "" {
		t.Error(d)
	}
}

// TestWhatGoesGoesHighestFirst: so what a killed run leaves is the plan's lower
// end.
func TestWhatGoesGoesHighestFirst(t *testing.T) {
	release, err := NewRelease(ours, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	loser, err := reserve(wants(ForIngress, 1, 2, 3))
	for name, c := range map[string]struct {
		start Page
		m     Machine
	}{
		"release":   {has(has(Page{}, ours, Held, 1, 3), ours, Pending, 2), release},
		"roll-back": {has(has(Page{}, ours, Pending, 1, 2, 5), theirs, Held, 3), loser},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, book := run(t, c.start, nil, c.m, err)
			var gone []addr
			for _, r := range book.made {
				if r.Op == OpRemove {
					gone = append(gone, r.Address)
				}
			}
			if len(gone) != 3 || !slices.IsSortedFunc(gone, func(a, b addr) int { return b.Compare(a) }) {
				t.Errorf("removed in the order %v", gone)
			}
		})
	}
}
