package segment

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"homeward/netplan"
)

// Target is an address of interest.
type Target struct {
	Address netip.Addr `json:"address"`
	// Use says what for: "ingress", "kubeapi", "gateway".
	Use string `json:"use"`
	// Ours says that only our machines may have it.
	Ours bool `json:"ours,omitempty"`
	// Witness says that somebody is known to have it, so that an answer proves the
	// path. Gateway says that it is the router's.
	Witness bool `json:"witness,omitempty"`
	Gateway bool `json:"gateway,omitempty"`
}

// The defaults of a watch, and its bounds.
const (
	// DefaultEvery is how often each address is asked for: the bound of a take-over.
	DefaultEvery = time.Second
	// watchGap is the time between two probes: at most 100 broadcasts a second,
	// whatever the number of addresses.
	watchGap = 10 * time.Millisecond
	// answerTime is how long an answer may take. Linux answers a broadcast request
	// at once; RFC 5227 lets nobody delay an answer.
	answerTime = 300 * time.Millisecond
	// reaskTime is the least time between two probes for an address that somebody
	// else claims.
	reaskTime = 100 * time.Millisecond
	// silentAfter is how many probes in a row go unanswered before that is said.
	silentAfter = 3
)

// Config is what a watch is about.
type Config struct {
	// Own is the MAC that probes are sent from, Local this host's own addresses.
	Own   netplan.MAC
	Local []netip.Addr
	// Targets, each address once.
	Targets []Target
	// Names gives a MAC's machine. A MAC that has none is a stranger; Known names
	// strangers, such as other guests of the same hypervisor.
	Names, Known map[netplan.MAC]string
	// Every is the time between two probes for an address; zero is DefaultEvery, and
	// at least twice answerTime. With many addresses it becomes longer.
	Every time.Duration
	// Limit is how many frames a second are judged; zero is DefaultLimit.
	Limit int
}

// Watch knows who has which address. It is fed with frames and asked what to do
// next, and touches nothing itself. Its memory depends on the number of targets
// alone. It is safe for several goroutines; times must not go backwards.
type Watch struct {
	mu      sync.Mutex
	config  Config
	watched []*watched // by address
	byAddr  map[netip.Addr]*watched
	// next is the earliest time at which Step has something to do, sent the last
	// probe's.
	next, sent time.Time
	path       path
	load       load
	told       teller
	stats      Stats
}

// watched is one address.
type watched struct {
	Target
	local bool
	// holder has the address, since then; answered is when it last answered a probe.
	holder          netplan.MAC
	since, answered time.Time
	// former had it before it went silent.
	former         netplan.MAC
	formerAnswered time.Time
	// asked is the last probe's time, open that its answers are still awaited.
	asked time.Time
	open  bool
	due   time.Time
	// firstMiss is the first of the unanswered probes, misses their number.
	firstMiss time.Time
	misses    int
	answers   sightings // to the last probe
	claims    sightings // by others than the holder, not yet judged
	rivals    []netplan.MAC
	strangers sightings
	denied    sightings // claimed while the holder still answered
	// heard is the holder's last frame of any kind.
	heard time.Time
}

// NewWatch starts a watch at a time.
func NewWatch(c Config, at time.Time) *Watch {
	if c.Every <= 0 {
		c.Every = DefaultEvery
	}
	c.Every = max(c.Every, 2*answerTime)
	if c.Limit <= 0 {
		c.Limit = DefaultLimit
	}
	w := &Watch{config: c, byAddr: map[netip.Addr]*watched{}, next: at, load: load{limit: c.Limit}, told: newTeller(at)}
	w.stats.Events = map[Kind]uint64{}
	for _, t := range c.Targets {
		if w.byAddr[t.Address] != nil {
			continue
		}
		x := &watched{Target: t, local: slices.Contains(c.Local, t.Address), due: at}
		w.byAddr[t.Address] = x
		w.watched = append(w.watched, x)
		w.path.witnesses = w.path.witnesses || t.Witness
	}
	slices.SortFunc(w.watched, func(a, b *watched) int { return a.Address.Compare(b.Address) })
	return w
}

// Frame judges a frame that came at a time, and gives what happened.
func (w *Watch) Frame(at time.Time, frame []byte) []Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Frames++
	var events []Event
	if started := w.load.count(at); started {
		events = w.tell(events, Event{Time: at, Kind: Overloaded, Count: uint64(w.config.Limit)})
	}
	if w.load.over() {
		return events
	}
	a, ok := Decode(frame)
	if !ok {
		w.stats.Malformed++
		return events
	}
	x := w.byAddr[a.Sender]
	if x == nil || !a.claims(w.config.Own) {
		return events
	}
	if a.answers(w.config.Own) {
		events = w.pathWorks(events, at, x)
		if x.open {
			x.answers.add(a.SenderMAC, at)
		}
		if a.SenderMAC == x.holder {
			x.answered, x.misses = at, 0
		}
	}
	if a.SenderMAC == x.holder {
		x.heard = at
	} else {
		x.claims.add(a.SenderMAC, at)
		w.hurry(x, at)
	}
	return w.strange(events, at, x, a.SenderMAC)
}

// hurry asks for an address soon: who claims it will have to answer, and so will
// who had it.
func (w *Watch) hurry(x *watched, at time.Time) {
	if x.open || x.local {
		return
	}
	if soon := later(at, x.asked.Add(reaskTime)); soon.Before(x.due) {
		x.due = soon
		if soon.Before(w.next) {
			w.next = soon
		}
	}
}

// strange tells of a MAC that is no machine of ours on an address of ours, once.
func (w *Watch) strange(events []Event, at time.Time, x *watched, mac netplan.MAC) []Event {
	if !x.Ours || w.config.Names[mac] != "" {
		return events
	}
	if fresh := x.strangers.refresh(mac, at); !fresh {
		return events
	}
	return w.tell(events, Event{Time: at, Kind: Stranger, Address: x.Address, Use: x.Use, MAC: mac, Machine: w.config.Known[mac]})
}

// name is a MAC's machine, ours or another, empty for one of nobody known.
func (w *Watch) name(mac netplan.MAC) string {
	if n := w.config.Names[mac]; n != "" {
		return n
	}
	return w.config.Known[mac]
}

// Detach says that the wire is gone: what was asked last proves nothing, and neither
// does silence until a witness answers again.
func (w *Watch) Detach(at time.Time) (events []Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.watched {
		x.open, x.misses = false, 0
	}
	if !w.path.proven {
		return nil
	}
	w.path.proven = false
	return w.tell(events, Event{Time: at, Kind: PathLost, NotBefore: w.path.answered})
}

// Attach says from which MAC probes are sent from now on, and which addresses are
// this host's own: an interface that was opened again may have others.
func (w *Watch) Attach(own netplan.MAC, local []netip.Addr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.config.Own, w.config.Local = own, local
	for _, x := range w.watched {
		x.local = slices.Contains(local, x.Address)
	}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
