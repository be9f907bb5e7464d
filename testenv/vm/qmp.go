package vm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// qmp speaks QEMU's monitor protocol (docs/interop/qmp-spec.txt of QEMU).
// Commands may be given concurrently; QEMU does one after the other.
type qmp struct {
	out io.Writer
	// turn is held by who waits for a reply.
	turn    sync.Mutex
	replies chan qmpMessage
	// over is closed when nothing more can be read; then overErr says why.
	over    chan struct{}
	overErr error

	mu sync.Mutex
	// gone has who waits for a device to leave, by the device's id.
	gone map[string]chan struct{}
}

// qmpMessage is any message of QEMU: a greeting, a reply or an event.
type qmpMessage struct {
	Return json.RawMessage `json:"return"`
	Error  *struct {
		Class string `json:"class"`
		Desc  string `json:"desc"`
	} `json:"error"`
	Event string `json:"event"`
	Data  struct {
		Device string `json:"device"`
	} `json:"data"`
}

// newQMP starts to read and asks for command mode.
func newQMP(ctx context.Context, conn io.ReadWriter) (*qmp, error) {
	q := &qmp{
		out: conn, replies: make(chan qmpMessage), over: make(chan struct{}), gone: map[string]chan struct{}{},
	}
	go q.read(ctx, conn)
	return q, q.execute(ctx, "qmp_capabilities", nil)
}

// read sorts what QEMU says until it says no more.
func (q *qmp) read(ctx context.Context, in io.Reader) {
	defer close(q.over)
	for dec := json.NewDecoder(in); ; {
		var m qmpMessage
		if err := dec.Decode(&m); err != nil {
			q.overErr = fmt.Errorf("reading from QEMU's monitor: %w", err)
			return
		}
		switch {
		case m.Event == "DEVICE_DELETED":
			q.left(m.Data.Device)
		case m.Return != nil || m.Error != nil:
			select {
			case q.replies <- m:
			case <-ctx.Done():
				q.overErr = ctx.Err()
				return
			}
		}
	}
}

// execute gives a command and waits for its reply.
func (q *qmp) execute(ctx context.Context, command string, arguments any) error {
	q.turn.Lock()
	defer q.turn.Unlock()
	text, err := json.Marshal(struct {
		Execute   string `json:"execute"`
		Arguments any    `json:"arguments,omitempty"`
	}{command, arguments})
	if err != nil {
		return err
	}
	if _, err := q.out.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	select {
	case m := <-q.replies:
		if m.Error != nil {
			return fmt.Errorf("%s: %s: %s", command, m.Error.Class, m.Error.Desc)
		}
		return nil
	case <-q.over:
		return fmt.Errorf("%s: %w", command, q.overErr)
	case <-ctx.Done():
		return fmt.Errorf("%s: no reply: %w", command, ctx.Err())
	}
}

// left wakes who waits for the device.
func (q *qmp) left(device string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c, ok := q.gone[device]; ok {
		close(c)
		delete(q.gone, device)
	}
}

// expectGone gives a channel that is closed when the device has left.
func (q *qmp) expectGone(device string) (<-chan struct{}, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.gone[device]; ok {
		return nil, errors.New("it is being unplugged already")
	}
	c := make(chan struct{})
	q.gone[device] = c
	return c, nil
}

// forget gives up waiting for the device.
func (q *qmp) forget(device string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.gone, device)
}
