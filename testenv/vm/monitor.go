package vm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// monitorWithin is how long the guest may take to let a NIC go.
const monitorWithin = 30 * time.Second

// monitor does to the machine what a test inside asks for. A request is a line:
//
//	unplug ID      pull the NIC out; done when the guest has let it go
//	plug ID        put it in again, with the same MAC
//	link ID up     plug its cable in, or with "down" out
//
// The answer is a line too: "ok", or "error" and the reason.
type monitor struct {
	qmp  *qmp
	nics map[string]NIC
}

func newMonitor(q *qmp, nics []NIC) *monitor {
	m := &monitor{qmp: q, nics: map[string]NIC{}}
	for _, n := range nics {
		m.nics[n.ID] = n
	}
	return m
}

// serve answers requests, one at a time, until the guest has no more.
func (m *monitor) serve(ctx context.Context, guest io.ReadWriter) error {
	lines := bufio.NewScanner(guest)
	for lines.Scan() {
		answer := "ok"
		if err := m.do(ctx, lines.Text()); err != nil {
			// The answer is one line, whatever the error.
			answer = "error " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		if _, err := io.WriteString(guest, answer+"\n"); err != nil {
			return fmt.Errorf("answering the guest: %w", err)
		}
	}
	return lines.Err()
}

// do carries out one request.
func (m *monitor) do(ctx context.Context, request string) error {
	words := strings.Fields(request)
	if len(words) < 2 {
		return fmt.Errorf("request %q has no NIC", request)
	}
	nic, ok := m.nics[words[1]]
	if !ok {
		return fmt.Errorf("there is no NIC %q", words[1])
	}
	ctx, cancel := context.WithTimeout(ctx, monitorWithin)
	defer cancel()
	switch action := words[0] + " " + strings.Join(words[2:], " "); action {
	case "unplug ":
		return m.unplug(ctx, nic)
	case "plug ":
		return m.plug(ctx, nic)
	case "link up", "link down":
		return m.setLink(ctx, nic, action == "link up")
	}
	return fmt.Errorf("request %q is not known", request)
}

// unplug asks the guest to let the NIC go, as an administrator's request does,
// and waits until it has. The cable stays where it is.
func (m *monitor) unplug(ctx context.Context, n NIC) error {
	gone, err := m.qmp.expectGone(n.ID)
	if err != nil {
		return fmt.Errorf("unplugging %s: %w", n.ID, err)
	}
	defer m.qmp.forget(n.ID)
	if err := m.qmp.execute(ctx, "device_del", map[string]string{"id": n.ID}); err != nil {
		return fmt.Errorf("unplugging %s: %w", n.ID, err)
	}
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("unplugging %s: the guest did not let it go: %w", n.ID, ctx.Err())
	}
}

// plug puts the NIC into its slot. The guest finds it some time later.
func (m *monitor) plug(ctx context.Context, n NIC) error {
	err := m.qmp.execute(ctx, "device_add", map[string]string{
		"driver": "virtio-net-pci", "id": n.ID, "netdev": cableOf(n), "bus": portOf(n),
		"mac": n.MAC.String(), "romfile": "",
	})
	if err != nil {
		return fmt.Errorf("plugging %s: %w", n.ID, err)
	}
	return nil
}

// setLink plugs the cable in or out. The NIC stays.
func (m *monitor) setLink(ctx context.Context, n NIC, up bool) error {
	if err := m.qmp.execute(ctx, "set_link", map[string]any{"name": n.ID, "up": up}); err != nil {
		return fmt.Errorf("setting the link of %s: %w", n.ID, err)
	}
	return nil
}
