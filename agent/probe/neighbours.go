package probe

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"time"
)

// MACChange is another MAC that answers for a target. Its JSON form is stable.
type MACChange struct {
	// Time is when the change was seen, and NotBefore when the old MAC was last
	// seen: it happened in between.
	Time      time.Time `json:"time"`
	NotBefore time.Time `json:"not_before"`
	Interface string    `json:"interface"`
	From      string    `json:"from"`
	To        string    `json:"to"`
}

// neighbour is what the kernel's tables say of a target. The interface is empty
// where the target is not on a segment of this machine.
type neighbour struct {
	name, mac string
	seen      time.Duration
	changes   []MACChange
	count     int
}

const (
	// neighbourPeriod is how often the ARP table is read, for all targets at
	// once, and routePeriod how often the routes are.
	neighbourPeriod = 100 * time.Millisecond
	routePeriod     = 10 * time.Second
	// maxTable is how much of a kernel's table is read.
	maxTable = 8 << 20
	// maxMACChanges is how many changes of a target are kept: the last.
	maxMACChanges = 200
)

// readTable reads a file of /proc; empty when it cannot be read, as on systems
// without.
func readTable(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(f, maxTable)); err != nil {
		return ""
	}
	return b.String()
}

// findSegments notes for each target on whose interface's segment it is.
func (p *Prober) findSegments() {
	links := parseRoutes(readTable(routeFile))
	own := ownAddresses()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tracks {
		a := t.target.Address.Addr()
		name := ""
		if a.Is4() && !a.IsLoopback() && !own[a] {
			name = segmentOf(links, a)
		}
		if name != t.link.name {
			t.link.name, t.link.mac = name, ""
		}
	}
}

// ownAddresses are this machine's; empty when they cannot be read.
func ownAddresses() map[netip.Addr]bool {
	own := map[netip.Addr]bool{}
	list, err := net.InterfaceAddrs()
	if err != nil {
		return own
	}
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok {
			if address, ok := netip.AddrFromSlice(n.IP); ok {
				own[address.Unmap()] = true
			}
		}
	}
	return own
}

// watchNeighbours looks who answers ARP for the targets on a segment, until ctx
// ends. A table that takes long to read is read less often.
func (p *Prober) watchNeighbours(ctx context.Context) {
	routesAt := time.Now()
	for {
		began := time.Now()
		if began.Sub(routesAt) >= routePeriod {
			routesAt = began
			p.findSegments()
		}
		if len(p.OnLink()) > 0 {
			p.noteMACs(p.clock.now(), parseARP(readTable(arpFile)))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(neighbourPeriod, 10*time.Since(began))):
		}
	}
}

// noteMACs compares the table with what was known.
func (p *Prober) noteMACs(now time.Duration, macs map[station]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tracks {
		n := &t.link
		mac := macs[station{t.target.Address.Addr(), n.name}]
		if mac == "" {
			continue // not asked lately; the next answer tells
		}
		if n.mac != "" && n.mac != mac {
			change := MACChange{Time: p.clock.wall(now), NotBefore: p.clock.wall(n.seen), Interface: n.name, From: n.mac, To: mac}
			n.count++
			n.changes = append(n.changes, change)
			n.changes = n.changes[max(0, len(n.changes)-maxMACChanges):]
			p.emit(Event{Kind: EventMACChange, Time: change.Time, Target: t.target.Name, MACChange: &change})
		}
		n.mac, n.seen = mac, now
	}
}

// OnLink gives the names of targets that are on a segment of this machine. What
// answers there is reached, and answers, without a router: it proves nothing
// about the way back of replies to clients behind one.
func (p *Prober) OnLink() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	for _, t := range p.tracks {
		if t.link.name != "" {
			names = append(names, t.target.Name)
		}
	}
	return names
}
