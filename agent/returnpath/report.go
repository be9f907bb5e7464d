package returnpath

import (
	"context"
	"log/slog"
	"strings"
	"time"
)

// A node whose ruleset someone flushes all the time would fill its log: within
// logWindow at most logSteps changes are named, the rest are counted.
const (
	logWindow = time.Minute
	logSteps  = 20
)

// journal is what the loop remembers of what it logged.
type journal struct {
	problems string // those that were last logged
	window   time.Duration
	named    int
	unnamed  int
}

// log says what was done, and what is wrong whenever that changed.
func (a *Agent) log(steps []Step, problems []Problem) {
	for _, s := range steps {
		a.logStep(s)
	}
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Text)
	}
	all := strings.Join(texts, "\n")
	if all == a.journal.problems && a.status.Passes > 0 {
		return
	}
	a.journal.problems = all
	if len(problems) == 0 {
		a.cfg.Log.Info("the node is as it shall be")
	}
	for _, p := range problems {
		level := slog.LevelWarn
		if p.Blocking {
			level = slog.LevelError
		}
		a.cfg.Log.Log(context.Background(), level, p.Text, "kind", p.Kind, "remedy", p.Remedy)
	}
}

// logStep names one change, or counts it.
func (a *Agent) logStep(s Step) {
	j := &a.journal
	if now := a.cfg.Clock.Elapsed(); now-j.window >= logWindow || j.window == 0 {
		if j.unnamed > 0 {
			a.cfg.Log.Warn("something keeps changing this node", "more_changes", j.unnamed)
		}
		j.window, j.named, j.unnamed = now, 0, 0
	}
	if j.named >= logSteps {
		j.unnamed++
		return
	}
	j.named++
	a.cfg.Log.Info("changed the node", "step", s.String(), "repair", a.converged)
}
