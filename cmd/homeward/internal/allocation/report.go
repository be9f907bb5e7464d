package allocation

import (
	"homeward/agent/ledger"
	"homeward/agent/openstack"
	"homeward/netplan"
)

// Outcome is how reserve, release or status at OpenStack ended.
type Outcome string

// The outcomes.
const (
	Reserved Outcome = "reserved"
	Released Outcome = "released"
	// AsPlanned and Differs are a status's.
	AsPlanned Outcome = "as-planned"
	Differs   Outcome = "differs"
	// Rehearsed: nothing was written, Steps has what would be.
	Rehearsed Outcome = "dry-run"
	// Taken: somebody else has what is needed, see Conflicts.
	Taken Outcome = "taken"
	// Wrong: the plan contradicts what the cloud has, see Conflicts.
	Wrong Outcome = "plan"
	// Failed: the server would not, see Error.
	Failed Outcome = "failed"
	// Unknown: the server did not say what it did or what there is, see Error.
	Unknown Outcome = "unknown"
)

// Report is what -o json prints of reserve, release and status at OpenStack.
type Report struct {
	Outcome  Outcome          `json:"outcome"`
	Provider netplan.Provider `json:"provider"`
	// Owner has no id while this cluster never reserved. Project is the id of the
	// credential's; empty where nothing could be read.
	Owner   ledger.Owner `json:"owner"`
	Project string       `json:"project,omitempty"`
	// KubeAPI and Ingress are what is allocated, zero addresses while it is not.
	KubeAPI netplan.ChosenAddress `json:"kubeapi"`
	Ingress netplan.ChosenAddress `json:"ingress"`
	// Objects are the owner's that the plan keeps; never nil.
	Objects []openstack.Listed `json:"objects"`
	// Made, Changed and Removed count what this run did, as far as the server
	// confirmed it.
	Made    int `json:"made"`
	Changed int `json:"changed"`
	Removed int `json:"removed"`
	// Conflicts is the whole list; never nil.
	Conflicts []openstack.Conflict `json:"conflicts"`
	// Steps are those of a dry run, and of a status what differs: what reserve would
	// do.
	Steps []openstack.Step `json:"steps,omitempty"`
	// Left are objects that should go and are in use.
	Left     []openstack.Left `json:"left,omitempty"`
	Warnings []string         `json:"warnings,omitempty"`
	// File is the allocation.json that holds the addresses; Stale says that it says
	// something else, or is not there.
	File  string `json:"file,omitempty"`
	Stale string `json:"stale,omitempty"`
	Error string `json:"error,omitempty"`
}

// ReportOf gives the report of a result; done is the outcome of one that did all.
func ReportOf(owner ledger.Owner, res openstack.Result, done Outcome) *Report {
	r := &Report{
		Outcome: outcomeOf(res, done), Provider: netplan.OpenStack, Owner: owner, Objects: []openstack.Listed{},
		Made: res.Made, Changed: res.Changed, Removed: res.Removed, Conflicts: append([]openstack.Conflict{}, res.Conflicts...),
		Steps: res.Steps, Left: res.Left,
	}
	if res.Err != nil {
		r.Error = res.Err.Error()
	}
	if h := res.Holding; h != nil {
		r.Project, r.Objects, r.Warnings = h.Project, h.Objects(), h.Warnings
		if a, ok := h.Allocation(); ok {
			r.KubeAPI, r.Ingress = netplan.ChosenAddress(a.KubeAPI), netplan.ChosenAddress(a.Ingress)
		}
	}
	return r
}

func outcomeOf(res openstack.Result, done Outcome) Outcome {
	switch res.Outcome {
	case openstack.Done:
		return done
	case openstack.Rehearsed:
		return Rehearsed
	case openstack.InTheWay:
		for _, c := range res.Conflicts {
			if c.Blame == openstack.Wrong {
				return Wrong
			}
		}
		return Taken
	case openstack.Failed:
		return Failed
	}
	return Unknown
}
