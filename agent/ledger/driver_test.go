package ledger

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func noSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// TestACancelledRunRollsBack ends the context at every request in turn, with the
// write done and the answer lost, or waited for.
func TestACancelledRunRollsBack(t *testing.T) {
	t.Run("cut off", func(t *testing.T) { cancelled(t, 0, Unknown) })
	t.Run("waited for", func(t *testing.T) { cancelled(t, time.Minute, Failed) })
}

// cancelled holds that nothing is left, and that a run ends at worst as is said.
func cancelled(t *testing.T, finish time.Duration, worst Outcome) {
	for n := range 12 {
		ctx, cancel := context.WithCancelCause(context.Background())
		book := &cutting{Book: NewRehearsal(has(Page{}, theirs, Held, 9)), left: n, cut: func() { cancel(context.Canceled) }}
		m, err := reserve(wants(ForIngress, 1, 2))
		if err != nil {
			t.Fatal(err)
		}
		result := Driver{Book: book, Sleep: noSleep, Grace: time.Minute, Finish: finish}.Run(ctx, m)
		page, _ := book.Book.Read(context.Background())
		got := strings.Join(lines(page), ", ")
		switch result.Outcome {
		case Done:
			if got != "1 ours held ingress 2026, 2 ours held ingress 2026, 9 theirs held ingress 2026" {
				t.Errorf("done after %d requests with %s", n, got)
			}
		default:
			if result.Err == nil || got != "9 theirs held ingress 2026" || result.Outcome != Failed && result.Outcome != worst {
				t.Errorf("cancelled after %d requests: %+v, %s", n, result, got)
			}
		}
	}
}

// cutting is a book in front of which the context ends after some requests.
type cutting struct {
	Book
	left int
	cut  func()
}

func (c *cutting) Read(ctx context.Context) (Page, error) {
	page, err := c.Book.Read(ctx)
	return page, c.after(ctx, err)
}

func (c *cutting) Add(ctx context.Context, a addr, r Record) error {
	return c.after(ctx, c.Book.Add(ctx, a, r))
}

func (c *cutting) Change(ctx context.Context, a addr, r Record, v string) error {
	return c.after(ctx, c.Book.Change(ctx, a, r, v))
}

func (c *cutting) Remove(ctx context.Context, a addr, v string) error {
	return c.after(ctx, c.Book.Remove(ctx, a, v))
}

func (c *cutting) after(ctx context.Context, err error) error {
	if c.left--; c.left == 0 {
		c.cut()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func TestARollBackHasATimeOfGrace(t *testing.T) {
	for _, finish := range []time.Duration{0, time.Millisecond} {
		ctx, cancel := context.WithCancel(context.Background())
		book := &hanging{Book: NewRehearsal(Page{}), cut: cancel}
		m, err := reserve(wants(ForIngress, 1))
		if err != nil {
			t.Fatal(err)
		}
		result := Driver{Book: book, Sleep: noSleep, Grace: time.Millisecond, Finish: finish}.Run(ctx, m)
		if result.Outcome != Unknown || !slices.Equal(result.Uncertain, []addr{at(1)}) {
			t.Errorf("a write waited for %v: %+v", finish, result)
		}
	}
}

// hanging does not answer an addition, nor anything after it.
type hanging struct {
	Book
	cut  func()
	hung bool
}

func (h *hanging) Add(ctx context.Context, _ addr, _ Record) error {
	h.hung = true
	h.cut()
	<-ctx.Done()
	return ctx.Err()
}

func (h *hanging) Read(ctx context.Context) (Page, error) {
	if h.hung {
		<-ctx.Done()
		return Page{}, ctx.Err()
	}
	return h.Book.Read(ctx)
}

func TestProgressAndLog(t *testing.T) {
	var seen []Progress
	var log bytes.Buffer
	m, err := reserve(wants(ForIngress, 1, 2))
	if err != nil {
		t.Fatal(err)
	}
	start := has(Page{}, ours, Held, 7)
	start.Version = "of the server"
	result := Driver{
		Book: NewRehearsal(start), Sleep: noSleep,
		Report: func(p Progress) {
			if len(seen) == 0 || seen[len(seen)-1] != p {
				seen = append(seen, p)
			}
		},
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}.Run(context.Background(), m)
	want := []Progress{
		{StageClaim, 0, 2}, {StageClaim, 1, 2}, {StageHold, 0, 2}, {StageHold, 1, 2},
		{StageGiveBack, 1, 0}, {StageEnd, 0, 0},
	}
	if d := cmp.Diff(want, seen); d != "" {
		t.Error(d)
	}
	if result.Added != 2 || result.Removed != 1 {
		t.Errorf("%+v", result)
	}
	if n := strings.Count(log.String(), "\n"); n != 6 {
		t.Errorf("%d lines:\n%s", n, &log)
	}
}

// lagging shows the page before an addition for some reads after it.
type lagging struct {
	*Rehearsal
	old  Page
	lag  int
	left int
}

func (l *lagging) Read(ctx context.Context) (Page, error) {
	if l.left > 0 {
		l.left--
		return l.old, nil
	}
	return l.Rehearsal.Read(ctx)
}

func (l *lagging) Add(ctx context.Context, a addr, r Record) error {
	old, _ := l.Rehearsal.Read(ctx)
	err := l.Rehearsal.Add(ctx, a, r)
	if err == nil {
		l.old, l.left = old, l.lag
	}
	return err
}

// TestALoserIsNotFooledByAnOldPage loses over the second address while the server
// still shows the record without the first.
func TestALoserIsNotFooledByAnOldPage(t *testing.T) {
	for lag := range 4 {
		book := &lagging{Rehearsal: NewRehearsal(Page{Exists: true}), lag: lag}
		m, err := reserve(wants(ForIngress, 1, 2))
		if err != nil {
			t.Fatal(err)
		}
		step := func() {
			req := m.Next()
			m.Take(req.Do(context.Background(), book))
		}
		step()
		rival := Record{Owner: theirs, Purpose: ForIngress, State: Held, Since: before}
		if err := book.Rehearsal.Add(context.Background(), at(2), rival); err != nil {
			t.Fatal(err)
		}
		result := Driver{Book: book, Sleep: noSleep}.Run(context.Background(), m)
		page, _ := book.Rehearsal.Read(context.Background())
		if result.Outcome != Lost || cmp.Diff([]string{"2 theirs held ingress 2026"}, lines(page)) != "" {
			t.Errorf("lag %d: %+v, %v", lag, result, lines(page))
		}
	}
}
