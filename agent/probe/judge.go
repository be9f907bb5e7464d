package probe

import (
	"fmt"
	"slices"
	"time"
)

// Judgement is what a finished run says about its targets.
type Judgement struct {
	// Broken are the bounds that were broken: a target that never answered, an
	// outage longer than the bound.
	Broken []string
	// Unknown is why the run cannot say more: failures of the probe itself, and
	// what it could not see.
	Unknown []string
}

// Judge judges a finished run. A bound of zero is none; an outage is held
// against it by its measured length, which is right to about one interval.
func (s *Summary) Judge(bound time.Duration) Judgement {
	var j Judgement
	for _, reason := range sortedKeys(s.OwnFailures) {
		j.unknown("%d attempts failed on this machine: %s", s.OwnFailures[reason], reason)
	}
	for i := range s.Targets {
		j.target(&s.Targets[i], bound)
	}
	return j
}

func (j *Judgement) target(t *TargetSummary, bound time.Duration) {
	switch {
	case t.Answered > 0:
	case t.Failed > 0:
		j.broken("%s never answered (%s)", t.Target, CauseList(t.Causes))
		return
	default:
		j.unknown("%s could not be judged: none of %d attempts says anything", t.Target, t.Attempts)
		return
	}
	if bound == 0 {
		return
	}
	if t.OutageLongest > bound {
		j.broken("%s: an outage of %v, longer than %v", t.Target, round(t.OutageLongest), bound)
	}
	if t.BlindLongest > bound {
		j.unknown("%s: nothing is known of %v, in which an outage longer than %v would have gone unseen", t.Target, round(t.BlindLongest), bound)
	}
	for i := range t.Outages {
		o := &t.Outages[i]
		if o.State == OutageUnseen && o.Length <= bound {
			j.unknown("%s: an outage from %s on, whose end was not seen because the probe itself was away", t.Target, o.Start.Format(time.TimeOnly))
		}
	}
}

func (j *Judgement) broken(format string, args ...any) {
	j.Broken = append(j.Broken, fmt.Sprintf(format, args...))
}

func (j *Judgement) unknown(format string, args ...any) {
	j.Unknown = append(j.Unknown, fmt.Sprintf(format, args...))
}

// CauseList gives causes with their counts for people, sorted.
func CauseList[N int | int64](causes map[Cause]N) string {
	text := ""
	for _, c := range sortedKeys(causes) {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", causes[c], c)
	}
	return text
}

func sortedKeys[K ~string, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
