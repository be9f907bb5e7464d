package returnpath

import (
	"maps"
	"slices"
	"time"

	"homeward/netplan"
)

// Status is what the agent knows about its node. Its JSON form is /state:
// fields are added, never renamed.
type Status struct {
	// Ready says that the last pass reached the desired state and nothing else
	// keeps replies from going home.
	Ready bool `json:"ready"`
	// Problems has the blocking ones first; never nil in JSON.
	Problems []Problem `json:"problems"`
	// Uplink is the external link, nil while it is missing.
	Uplink   *netplan.Link    `json:"uplink"`
	Gateway  GatewayStatus    `json:"gateway"`
	Counters netplan.Counters `json:"counters"`

	Settings SettingsStatus `json:"settings"`
	// ResyncSeconds is how long at most the agent goes without a pass.
	ResyncSeconds float64 `json:"resync_seconds"`

	Started      time.Time `json:"started"`
	Passes       uint64    `json:"passes"`
	FailedPasses uint64    `json:"failed_passes"`
	LastPass     time.Time `json:"last_pass,omitzero"`
	// LastPassMillis is how long it took, in milliseconds.
	LastPassMillis float64 `json:"last_pass_ms"`
	// Repairs counts steps by kind, those of the first successful pass left out.
	Repairs    map[string]uint64 `json:"repairs"`
	LastChange time.Time         `json:"last_change,omitzero"`
	// LastSteps is what the last pass did that changed anything.
	LastSteps []string `json:"last_steps,omitempty"`

	problems []Problem // of the last pass, without the gateway's
}

// has says whether the last pass had a problem of that kind.
func (s *Status) has(k ProblemKind) bool {
	return slices.ContainsFunc(s.problems, func(p Problem) bool { return p.Kind == k })
}

// copy gives a status that shares nothing with s, with readiness worked out.
func (s *Status) copy() Status {
	out := *s
	out.problems = nil
	out.Problems = append(slices.Clone(s.problems), s.Gateway.problems(s.Uplink)...)
	slices.SortStableFunc(out.Problems, func(a, b Problem) int {
		switch {
		case a.Blocking == b.Blocking:
			return 0
		case a.Blocking:
			return -1
		}
		return 1
	})
	if out.Problems == nil {
		out.Problems = []Problem{}
	}
	blocked := len(out.Problems) > 0 && out.Problems[0].Blocking
	out.Ready = s.Passes > 0 && !blocked
	if s.Uplink != nil {
		l := *s.Uplink
		out.Uplink = &l
	}
	out.Repairs = maps.Clone(s.Repairs)
	out.LastSteps = slices.Clone(s.LastSteps)
	return out
}

// Status gives the outcome of the last pass and of the last look at the gateway.
func (a *Agent) Status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status.copy()
}

// Alive says whether the loop still turns: it came round within the resync time
// and some grace.
func (a *Agent) Alive() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	const grace = 30 * time.Second
	return a.cfg.Clock.Elapsed()-a.turned < a.cfg.Resync+grace
}
