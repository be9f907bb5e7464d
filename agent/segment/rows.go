package segment

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"homeward/netplan"
)

// Held says how an address stands.
type Held string

// The ways an address can stand.
const (
	// HeldByOne: one answers.
	HeldByOne Held = "held"
	// HeldByMany: several answer.
	HeldByMany Held = "conflict"
	// HeldByNobody: nobody answers, and the path works.
	HeldByNobody Held = "free"
	// HeldUnknown: nobody answers, which proves nothing, or it was not asked yet.
	HeldUnknown Held = "unknown"
)

// Row is the present state of one address.
type Row struct {
	Target
	Held Held `json:"held"`
	// MAC has it; zero when nobody has. Machine is its name.
	MAC     netplan.MAC `json:"mac,omitzero"`
	Machine string      `json:"machine,omitempty"`
	// Others answer too.
	Others []netplan.MAC `json:"others,omitempty"`
	// Strangers claimed it within the last ten minutes.
	Strangers []netplan.MAC `json:"strangers,omitempty"`
	// Claimed are those that name it as theirs and do not answer for it.
	Claimed []netplan.MAC `json:"claimed,omitempty"`
	// Local says that this very host has it.
	Local bool `json:"local,omitempty"`
	// Since is when the MAC was first seen there, Answered when it last answered.
	Since    time.Time `json:"since,omitzero"`
	Answered time.Time `json:"answered,omitzero"`
}

// Who is the holders for a person.
func (r Row) Who() string {
	if r.MAC.IsZero() {
		if len(r.Claimed) > 0 {
			return "nobody, though " + r.Claimed[0].String() + " claims it"
		}
		return "nobody"
	}
	text := named(r.MAC, r.Machine)
	for _, m := range r.Others {
		text += "; " + m.String()
	}
	if len(r.Strangers) > 0 {
		text += "; STRANGER"
	}
	return text
}

// Stats count what was seen and done.
type Stats struct {
	Frames, Malformed, Unread, Probes uint64
	// Events by kind, those that were suppressed too.
	Events map[Kind]uint64
	// Proven says that the path works, Overloaded that there is more ARP than can be
	// judged.
	Proven, Overloaded bool
}

// Rows gives every address, ascending.
func (w *Watch) Rows(at time.Time) []Row {
	w.mu.Lock()
	defer w.mu.Unlock()
	works := w.path.works(at, w.patience())
	rows := make([]Row, len(w.watched))
	for i, x := range w.watched {
		r := Row{
			Target: x.Target, Held: HeldUnknown, MAC: x.holder, Machine: w.name(x.holder),
			Others: x.rivals, Local: x.local, Since: x.since, Answered: x.answered,
		}
		switch {
		case x.local:
			r.Held, r.MAC, r.Machine = HeldByOne, w.config.Own, "this host"
			if x.Ours && w.config.Names[w.config.Own] == "" {
				r.Strangers = append(r.Strangers, w.config.Own)
			}
		case len(x.rivals) > 0:
			r.Held = HeldByMany
		case !x.holder.IsZero():
			r.Held = HeldByOne
		case works && x.misses >= silentAfter && x.claims.n == 0:
			r.Held = HeldByNobody
		}
		for _, s := range x.claims.list() {
			if !slices.Contains(x.rivals, s.mac) {
				r.Claimed = append(r.Claimed, s.mac)
			}
		}
		for _, s := range x.strangers.list() {
			if at.Sub(s.last) < forget {
				r.Strangers = append(r.Strangers, s.mac)
			}
		}
		rows[i] = r
	}
	return rows
}

// Stats gives the counts of this moment.
func (w *Watch) Stats(at time.Time) Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.stats
	s.Events = maps.Clone(w.stats.Events)
	s.Proven, s.Overloaded = w.path.works(at, w.patience()), w.load.high
	return s
}

// Witnesses are the addresses whose answer proves the path.
func Witnesses(targets []Target) (out []netip.Addr) {
	for _, t := range targets {
		if t.Witness {
			out = append(out, t.Address)
		}
	}
	return out
}
