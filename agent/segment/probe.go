package segment

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"time"

	"homeward/netplan"
)

// The defaults of a probe. RFC 5227 asks three times, 1 to 2 s apart, and waits 2 s
// after the last; all addresses are asked side by side, so a /24 takes as long as
// one address: about 5 s.
const (
	DefaultRounds = 3
	DefaultGap    = 4 * time.Millisecond
	roundTime     = time.Second
	lastWait      = 2 * time.Second
	// MaxAddresses is how many addresses one probe may ask for.
	MaxAddresses = 4096
)

// readSlice is how long a read waits at most, so that an ended context is seen.
const readSlice = 100 * time.Millisecond

// Question is what Probe asks.
type Question struct {
	// Addresses are asked for, each once however often it stands here. IPv4.
	Addresses []netip.Addr
	// Witnesses are addresses that somebody is known to have, the gateway first:
	// an answer for one proves the path. Without any, every answer does.
	Witnesses []netip.Addr
	// Rounds is how often each is asked; zero is DefaultRounds.
	Rounds int
	// Gap is the time between two frames; zero is DefaultGap, 250 frames a second.
	Gap time.Duration
	// Wait is how long answers to the last round are waited for; zero is 2 s.
	Wait time.Duration
}

// Probe asks on the wire for all addresses and reports who answered. It takes
// rounds of at least a second each and the wait after the last. The error is one of
// the question or of the wire; that nobody answers is none.
func Probe(ctx context.Context, w Wire, q Question) (Report, error) {
	if err := q.complete(); err != nil {
		return Report{}, err
	}
	if _, err := w.Lost(); err != nil { // what was lost before counts for nobody
		return Report{}, err
	}
	p := newProber(w, q)
	if err := p.run(ctx); err != nil {
		return Report{}, fmt.Errorf("probing %d addresses: %w", len(p.order), err)
	}
	lost, err := w.Lost()
	if err != nil {
		return Report{}, err
	}
	return p.report(lost), nil
}

// complete puts the defaults in and refuses what cannot be asked.
func (q *Question) complete() error {
	if q.Rounds <= 0 {
		q.Rounds = DefaultRounds
	}
	if q.Gap <= 0 {
		q.Gap = DefaultGap
	}
	if q.Wait <= 0 {
		q.Wait = lastWait
	}
	if n := len(q.Addresses) + len(q.Witnesses); n > MaxAddresses {
		return fmt.Errorf("probing %d addresses: %d is the most", n, MaxAddresses)
	}
	for _, a := range slices.Concat(q.Addresses, q.Witnesses) {
		if !a.Is4() || a.IsUnspecified() || a.IsMulticast() {
			return fmt.Errorf("probing %s: it is no host's IPv4 address", a)
		}
	}
	return nil
}

// prober is one probe at work.
type prober struct {
	wire      Wire
	question  Question
	local     map[netip.Addr]bool
	witnesses []netip.Addr
	// order has each address once, witnesses first: when they are silent in the
	// first second, the path is in doubt for all that follows.
	order   []netip.Addr
	found   map[netip.Addr]*Answer
	frames  uint64
	garbage uint64
}

func newProber(w Wire, q Question) *prober {
	p := &prober{wire: w, question: q, local: map[netip.Addr]bool{}, found: map[netip.Addr]*Answer{}}
	for _, a := range w.Local() {
		p.local[a] = true
	}
	for _, a := range slices.Concat(q.Witnesses, q.Addresses) {
		if p.found[a] == nil {
			p.found[a] = &Answer{Address: a, Local: p.local[a]}
			p.order = append(p.order, a)
		}
	}
	for _, a := range q.Witnesses {
		if !slices.Contains(p.witnesses, a) {
			p.witnesses = append(p.witnesses, a)
		}
	}
	return p
}

// run sends every round and takes what comes meanwhile.
func (p *prober) run(ctx context.Context) error {
	began := time.Now()
	round := max(roundTime, time.Duration(len(p.order))*p.question.Gap)
	for r := range p.question.Rounds {
		for i, a := range p.order {
			due := began.Add(time.Duration(r)*round + time.Duration(i)*p.question.Gap)
			if err := p.listen(ctx, due); err != nil {
				return err
			}
			if err := p.wire.WriteFrame(probeFor(a, p.wire.MAC()).Append(nil)); err != nil {
				return err
			}
		}
	}
	return p.listen(ctx, time.Now().Add(p.question.Wait))
}

// listen takes frames until a time. A flood does not hold it up: the clock is
// looked at after each frame.
func (p *prober) listen(ctx context.Context, until time.Time) error {
	var buffer [MaxFrame]byte
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		left := time.Until(until)
		if left <= 0 {
			return nil
		}
		if err := p.wire.SetReadDeadline(time.Now().Add(min(left, readSlice))); err != nil {
			return err
		}
		n, err := p.wire.ReadFrame(buffer[:])
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
		case err != nil:
			return err
		default:
			p.take(buffer[:n])
		}
	}
}

// take notes what a frame says of the addresses that were asked for.
func (p *prober) take(frame []byte) {
	p.frames++
	a, ok := Decode(frame)
	if !ok {
		p.garbage++
		return
	}
	own := p.wire.MAC()
	if found := p.found[a.Sender]; found != nil && a.claims(own) {
		found.add(a.SenderMAC, a.answers(own))
	}
	if found := p.found[a.Target]; found != nil && a.Sender.IsUnspecified() && a.Operation == Request && a.SenderMAC != own {
		found.AlsoProbed = true
	}
}

// add notes one who claims the address; at most maxHolders are kept.
func (a *Answer) add(mac netplan.MAC, answered bool) {
	for i := range a.Holders {
		if a.Holders[i].MAC == mac {
			a.Holders[i].Answered = a.Holders[i].Answered || answered
			return
		}
	}
	if len(a.Holders) == maxHolders {
		a.More = true
		return
	}
	a.Holders = append(a.Holders, Holder{MAC: mac, Answered: answered})
}
