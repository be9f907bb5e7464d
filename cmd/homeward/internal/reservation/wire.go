package reservation

import (
	"net/netip"

	"homeward/agent/ledger/inventory"
	"homeward/agent/segment"
	"homeward/netplan"
)

const kindARP = "arp"

// theWire is the source that a probe reads.
const theWire = "the wire"

// Heard adds what a probe of the segment heard to a look: a stranger who has an
// address of the plan stands against it, and silence that proves nothing is a source
// that could not be read.
func (l *Look) Heard(p *netplan.Plan, r segment.Report) {
	l.Probe = &r
	machines, guests := segment.Names(p), inventory.Names(l.Snapshot)
	for _, w := range l.Wants {
		answer, _ := r.Of(w.Address)
		for _, h := range answer.Holders {
			if machines[h.MAC] != "" {
				continue // our own announcement
			}
			source := "MAC " + h.MAC.String()
			if name := guests[h.MAC]; name != "" {
				source += " (guest " + name + ")"
			}
			if h.Answered {
				source += " answers for it on the segment"
			} else {
				source += " announces it on the segment"
			}
			l.wire = append(l.wire, Taken{Address: w.Address.String(), For: string(w.Purpose), Kind: kindARP, Source: source,
				Remedy: "find that host and take the address off it, or choose another address"})
		}
	}
	if doubt := r.Doubt(); doubt != "" {
		l.unread(theWire, doubt)
	}
}

// Deaf says that the segment could not be asked.
func (l *Look) Deaf(reason string) { l.unread(theWire, reason) }

// ProbeFor is what to ask the segment for: the plan's addresses, and the gateway to
// show that answers come.
func (l *Look) ProbeFor(p *netplan.Plan) segment.Question {
	q := segment.Question{Witnesses: []netip.Addr{p.External.Gateway}}
	for _, w := range l.Wants {
		q.Addresses = append(q.Addresses, w.Address)
	}
	return q
}
