package segment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Listen feeds a watch from the wire and sends its probes until the context ends;
// then it gives nil. tell gets each event, one at a time. The error is the wire's:
// an interface that went away or down.
func Listen(ctx context.Context, wire Wire, w *Watch, tell func(Event)) error {
	var buffer [MaxFrame]byte
	say := func(events []Event) {
		for _, e := range events {
			tell(e)
		}
	}
	for counted := time.Now(); ; {
		if ctx.Err() != nil {
			return nil
		}
		now := time.Now()
		ask, next, events := w.Step(now)
		say(events)
		if ask.IsValid() {
			if err := wire.WriteFrame(probeFor(ask, wire.MAC()).Append(nil)); err != nil {
				return fmt.Errorf("probing %s: %w", ask, err)
			}
		}
		if now.Sub(counted) >= window {
			lost, err := wire.Lost()
			if err != nil {
				return err
			}
			say(w.Lost(now, lost))
			counted = now
		}
		if err := wire.SetReadDeadline(sooner(next, now.Add(readSlice))); err != nil {
			return err
		}
		if err := read(wire, w, buffer[:], next, say); err != nil {
			return err
		}
	}
}

// read takes frames until the next step is due. When there are more than can be
// judged it lets the kernel throw them away, which costs little, and goes on with
// the next window.
func read(wire Wire, w *Watch, buffer []byte, next time.Time, say func([]Event)) error {
	const breath = 20 * time.Millisecond
	for {
		n, err := wire.ReadFrame(buffer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
		now := time.Now()
		say(w.Frame(now, buffer[:n]))
		if w.full() {
			time.Sleep(breath)
			return nil
		}
		if !now.Before(next) {
			return nil
		}
	}
}

// full says that no more frames are judged in this window.
func (w *Watch) full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.load.over()
}

func sooner(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
