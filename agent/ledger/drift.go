package ledger

// Drift is how the record differs from what an owner's plan asks for. All ascending,
// each nil when there is none.
type Drift struct {
	// Unclaimed are wants of which the owner has no entry.
	Unclaimed []Want `json:"unclaimed,omitempty"`
	// Unwanted are the owner's entries that the plan does not ask for.
	Unwanted []Entry `json:"unwanted,omitempty"`
	// Unfinished are the owner's wanted entries that are still pending: a
	// reservation is under way or was killed.
	Unfinished []Entry `json:"unfinished,omitempty"`
	// Misused are the owner's wanted entries with another purpose than the plan's.
	Misused []Entry `json:"misused,omitempty"`
}

// Any says whether there is a difference.
func (d Drift) Any() bool {
	return len(d.Unclaimed)+len(d.Unwanted)+len(d.Unfinished)+len(d.Misused) > 0
}

// DriftOf compares a page with what the owner wants. Wants may be in any order.
func DriftOf(p Page, wants []Want, o Owner) (Drift, error) {
	wants, err := sorted(wants)
	if err != nil {
		return Drift{}, err
	}
	var d Drift
	for _, w := range wants {
		if e, ok := p.Of(w.Address); !ok || !e.OwnedBy(o) {
			d.Unclaimed = append(d.Unclaimed, w)
		}
	}
	for _, e := range p.Owned(o) {
		at, wanted := find(wants, e.Prefix.Addr())
		switch {
		case !wanted:
			d.Unwanted = append(d.Unwanted, e)
			continue
		case e.Record.Purpose != wants[at].Purpose:
			d.Misused = append(d.Misused, e)
		}
		if e.Record.State == Pending {
			d.Unfinished = append(d.Unfinished, e)
		}
	}
	return d, nil
}
