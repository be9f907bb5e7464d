package segment

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"homeward/netplan"
)

// Kind is what an event says. The words are a contract for scripts.
type Kind string

// The kinds of event.
const (
	// Appeared: an address that nobody had is answered.
	Appeared Kind = "appeared"
	// TakenOver: another one answers, and the old one no longer does.
	TakenOver Kind = "taken_over"
	// GatewayChanged is TakenOver of the gateway's address.
	GatewayChanged Kind = "gateway_changed"
	// Duplicate: two or more answer the same probe.
	Duplicate Kind = "duplicate"
	// Settled: one alone answers again.
	Settled Kind = "settled"
	// Contradicted: somebody claimed an address, and its holder still answers alone.
	Contradicted Kind = "contradicted"
	// Stranger: a MAC of no machine of ours claims an address of ours.
	Stranger Kind = "stranger"
	// Silent: the holder answers no more, and the path still works.
	Silent Kind = "silent"
	// PathProven: a witness answers, so that silence means something.
	PathProven Kind = "path_proven"
	// PathLost: no witness answers any more; nothing can be called free or silent.
	PathLost Kind = "path_lost"
	// Overloaded: more ARP than can be judged; Count is the bound in frames a second.
	Overloaded Kind = "overloaded"
	// Recovered: the load is over; Count frames were not judged.
	Recovered Kind = "recovered"
	// Suppressed: Count events were not told because there were too many.
	Suppressed Kind = "suppressed"
)

// Kinds are all of them, in the order above.
func Kinds() []Kind {
	return []Kind{
		Appeared, TakenOver, GatewayChanged, Duplicate, Settled, Contradicted, Stranger, Silent,
		PathProven, PathLost, Overloaded, Recovered, Suppressed,
	}
}

// Event is a change on the segment.
type Event struct {
	// Time is when it was first seen: of a take-over, the new one's first frame.
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	// Address and what it is used for; none for what concerns the whole segment.
	Address netip.Addr `json:"address,omitzero"`
	Use     string     `json:"use,omitempty"`
	// MAC is who has the address now, or claims it; Machine is its name, empty for
	// one that no machine has.
	MAC     netplan.MAC `json:"mac,omitzero"`
	Machine string      `json:"machine,omitempty"`
	// From is who had it before.
	From        netplan.MAC `json:"from,omitzero"`
	FromMachine string      `json:"from_machine,omitempty"`
	// NotBefore is when the old one last answered a probe: what happened lies
	// between it and Time. Zero when it never did.
	NotBefore time.Time `json:"not_before,omitzero"`
	// Others answer too.
	Others []netplan.MAC `json:"others,omitempty"`
	Count  uint64        `json:"count,omitempty"`
}

// clock is how a time of day is written for a person.
const clock = "15:04:05.000"

// Text is the event as one line for a person, without its time.
func (e Event) Text() string {
	who := named(e.MAC, e.Machine)
	switch e.Kind {
	case Appeared:
		return fmt.Sprintf("%s is answered by %s", e.Address, who)
	case TakenOver:
		return fmt.Sprintf("%s went from %s to %s%s", e.Address, named(e.From, e.FromMachine), who, e.bound())
	case GatewayChanged:
		return fmt.Sprintf("the gateway %s changed its MAC from %s to %s%s", e.Address, named(e.From, e.FromMachine), who, e.bound())
	case Duplicate:
		others := make([]string, len(e.Others))
		for i, m := range e.Others {
			others[i] = m.String()
		}
		return fmt.Sprintf("CONFLICT: %s is answered by %s and by %s", e.Address, who, strings.Join(others, ", "))
	case Settled:
		return fmt.Sprintf("%s is answered by %s alone again", e.Address, who)
	case Contradicted:
		return fmt.Sprintf("%s was claimed by %s, but %s still answers", e.Address, who, named(e.From, e.FromMachine))
	case Stranger:
		return fmt.Sprintf("STRANGER: %s is claimed by %s, which is no machine of the plan", e.Address, who)
	case Silent:
		return fmt.Sprintf("%s is answered no more by %s%s", e.Address, named(e.From, e.FromMachine), e.bound())
	case PathProven:
		return fmt.Sprintf("%s answers: silence means something here", e.Address)
	case PathLost:
		return "no known address answers any more: nothing can be called free or silent"
	case Overloaded:
		return fmt.Sprintf("more than %d ARP frames a second: more than can be judged", e.Count)
	case Recovered:
		return fmt.Sprintf("ARP can be judged again; %d frames were not", e.Count)
	}
	return fmt.Sprintf("%d events more than can be told", e.Count)
}

// bound says between which times it happened.
func (e Event) bound() string {
	if e.NotBefore.IsZero() {
		return ""
	}
	return fmt.Sprintf(" between %s, when it last answered, and %s (%s)",
		e.NotBefore.Format(clock), e.Time.Format(clock), e.Time.Sub(e.NotBefore).Round(time.Millisecond))
}

func named(mac netplan.MAC, machine string) string {
	if machine == "" {
		return mac.String()
	}
	return mac.String() + " (" + machine + ")"
}
