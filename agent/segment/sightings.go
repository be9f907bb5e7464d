package segment

import (
	"time"

	"homeward/netplan"
)

// forget is how long a MAC that is heard no more keeps its place.
const forget = 10 * time.Minute

// sighting is a MAC and when it was first and last seen.
type sighting struct {
	mac         netplan.MAC
	first, last time.Time
}

// sightings are a few MACs, in the order in which they were first seen. Who floods
// with invented ones fills it and gets no further.
type sightings struct {
	seen [maxHolders]sighting
	n    int
}

func (s *sightings) list() []sighting { return s.seen[:s.n] }

func (s *sightings) clear() { s.n = 0 }

// find gives a MAC's sighting, nil when it is not kept.
func (s *sightings) find(mac netplan.MAC) *sighting {
	for i := range s.list() {
		if s.seen[i].mac == mac {
			return &s.seen[i]
		}
	}
	return nil
}

// add notes a MAC, and says whether it is new here.
func (s *sightings) add(mac netplan.MAC, at time.Time) (fresh bool) {
	if known := s.find(mac); known != nil {
		known.last = at
		return false
	}
	if s.n == len(s.seen) {
		return false
	}
	s.seen[s.n] = sighting{mac, at, at}
	s.n++
	return true
}

// refresh is add where those that are heard no more give way.
func (s *sightings) refresh(mac netplan.MAC, at time.Time) (fresh bool) {
	if s.find(mac) == nil {
		kept := 0
		for _, x := range s.list() {
			if at.Sub(x.last) < forget {
				s.seen[kept] = x
				kept++
			}
		}
		s.n = kept
	}
	return s.add(mac, at)
}

// drop forgets a MAC.
func (s *sightings) drop(mac netplan.MAC) {
	kept := 0
	for _, x := range s.list() {
		if x.mac != mac {
			s.seen[kept] = x
			kept++
		}
	}
	s.n = kept
}
