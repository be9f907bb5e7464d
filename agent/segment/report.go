package segment

import (
	"net/netip"
	"slices"

	"homeward/netplan"
)

// maxHolders is how many MACs are kept of one address. Two are a conflict already;
// whoever floods with invented ones shall not cost memory.
const maxHolders = 4

// State says what is known of an address.
type State string

// The states of an address.
const (
	// Taken: somebody answered or announced it.
	Taken State = "taken"
	// Free: nobody did, and the path was seen to work.
	Free State = "free"
	// Unknown: nobody did, and nothing shows that an answer would have come.
	Unknown State = "unknown"
)

// Holder is one who has an address.
type Holder struct {
	MAC netplan.MAC `json:"mac"`
	// Answered says that it answered a probe; else it only announced or used the
	// address while the probe ran.
	Answered bool `json:"answered"`
}

// Answer is what is known of one address.
type Answer struct {
	Address netip.Addr `json:"address"`
	State   State      `json:"state"`
	// Holders in the order in which they were heard; more than one is a conflict.
	Holders []Holder `json:"holders,omitempty"`
	// More says that there were more holders than are kept.
	More bool `json:"more,omitempty"`
	// Local says that this very host has the address.
	Local bool `json:"local,omitempty"`
	// AlsoProbed says that somebody else probed for it meanwhile: another watcher,
	// or one who is about to take it.
	AlsoProbed bool `json:"also_probed,omitempty"`
}

// Report is what came of a probe.
type Report struct {
	// Answers has every address that was asked for, witnesses too, ascending.
	Answers []Answer `json:"answers"`
	// Proven says that the way to the segment and back was seen to work while the
	// probe ran, with Witness as the first address that showed it; Witness is the
	// zero Addr otherwise. Where there are witnesses, only they prove it: a squatter
	// on this very bridge answers also when the bridge's uplink is cut.
	Proven  bool       `json:"proven"`
	Witness netip.Addr `json:"witness,omitzero"`
	// Frames is how many ARP frames arrived, Malformed how many of them were none,
	// and Lost how many came faster than they could be read.
	Frames    uint64 `json:"frames"`
	Malformed uint64 `json:"malformed"`
	Lost      uint64 `json:"lost"`
}

// Of gives the answer for an address, false when it was not asked for.
func (r Report) Of(a netip.Addr) (Answer, bool) {
	i, ok := slices.BinarySearchFunc(r.Answers, a, func(x Answer, a netip.Addr) int { return x.Address.Compare(a) })
	if !ok {
		return Answer{}, false
	}
	return r.Answers[i], true
}

// Doubt says why silence proves nothing; empty when the path is proven.
func (r Report) Doubt() string {
	switch {
	case r.Lost > 0:
		return "ARP came faster than it could be read: answers may be among what was lost"
	case r.Proven:
		return ""
	case r.Frames == 0:
		return "nothing at all was heard here: is this interface on the segment, and is the bridge itself in the VLAN?"
	}
	return "ARP is heard here, but nobody answered a probe: a filter may drop probes (in a guest: Proxmox's ipfilter), or the gateway is down"
}

// report closes the probe. Only an answer to a probe proves the path: what is
// heard shows one direction. Lost frames put every silence in doubt.
func (p *prober) report(lost uint64) Report {
	r := Report{Frames: p.frames, Malformed: p.garbage, Lost: lost}
	proof := p.witnesses
	if len(proof) == 0 {
		proof = p.order
	}
	for _, a := range proof {
		if slices.ContainsFunc(p.found[a].Holders, func(h Holder) bool { return h.Answered }) {
			r.Proven, r.Witness = true, a
			break
		}
	}
	for _, a := range p.order {
		answer := *p.found[a]
		switch {
		case answer.Local || len(answer.Holders) > 0:
			answer.State = Taken
		case r.Proven && lost == 0:
			answer.State = Free
		default:
			answer.State = Unknown
		}
		r.Answers = append(r.Answers, answer)
	}
	slices.SortFunc(r.Answers, func(a, b Answer) int { return a.Address.Compare(b.Address) })
	return r
}
