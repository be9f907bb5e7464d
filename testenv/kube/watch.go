//go:build linux

package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"

	"golang.org/x/sys/unix"

	"homeward/testenv/netlab"
)

// Watch is the product's `homeward-agent host` at work on the external network, on
// the on-link client's machine.
type Watch struct {
	cmd            *netlab.Cmd
	stdout, stderr bytes.Buffer
}

// SegmentEvent is what it has to say of one change.
type SegmentEvent struct {
	Kind    string     `json:"kind"`
	Address netip.Addr `json:"address"`
	// Machine has the address now, FromMachine had it before: names of the plan,
	// empty for nobody's.
	Machine     string `json:"machine"`
	FromMachine string `json:"from_machine"`
}

// clientLink is the clients' only NIC.
const clientLink = "eth0"

// StartWatch begins to watch the plan's addresses.
func (l *Lab) StartWatch(ctx context.Context) (*Watch, error) {
	plan := filepath.Join(l.Product.dir, string(AgentPod), "plan.json")
	w := &Watch{cmd: l.Net.OnLink.Command(ctx, l.Product.Agent,
		"host", "--interface", clientLink, "--plan", plan, "--listen", "", "-o", "jsonl")}
	w.cmd.Stdout, w.cmd.Stderr = &w.stdout, &w.stderr
	return w, w.cmd.Start()
}

// Events ends the watch and gives what it told, in its order.
func (w *Watch) Events() ([]SegmentEvent, error) {
	if err := w.cmd.Process.Signal(unix.SIGTERM); err != nil {
		return nil, fmt.Errorf("ending the watch: %w", err)
	}
	if err := w.cmd.Wait(); err != nil {
		return nil, fmt.Errorf("watching the segment: %w: %s", err, bytes.TrimSpace(w.stderr.Bytes()))
	}
	var events []SegmentEvent
	lines := json.NewDecoder(&w.stdout)
	for {
		var e SegmentEvent
		err := lines.Decode(&e)
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading what the watch told: %w", err)
		}
		events = append(events, e)
	}
}
