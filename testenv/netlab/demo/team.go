//go:build linux

package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"homeward/testenv/netlab"
)

// restartDelay is what a kubelet needs at best to start a container again. Its
// back-off (10 s and more after a second crash) is not held against anybody.
const restartDelay = time.Second

// team is a program on every node of a cluster.
type team struct{ members []*member }

// member is a program on one node, started again whenever it ends.
type member struct {
	node    *netlab.Node
	program Program
	cancel  context.CancelFunc
	ended   chan struct{}

	mu      sync.Mutex
	process *netlab.Cmd
	starts  int
	failure error
	// stderr is a file and not a pipe, which would keep us waiting for children
	// that a program has left behind.
	stderr *os.File
}

func startTeam(c *netlab.Cluster, p Program) (*team, error) {
	t := &team{}
	for _, n := range c.Nodes {
		ctx, cancel := context.WithCancel(context.Background())
		m := &member{node: n, program: p, cancel: cancel, ended: make(chan struct{})}
		t.members = append(t.members, m)
		var process *netlab.Cmd
		var err error
		if m.stderr, err = namelessFile(); err == nil {
			process, err = m.start(ctx)
		}
		if err != nil {
			close(m.ended)
			return nil, errors.Join(err, t.stop())
		}
		go m.supervise(ctx, process)
	}
	return t, nil
}

// stop kills the programs. It gives the error of one that could not be started
// again.
func (t *team) stop() error {
	var errs []error
	for _, m := range t.members {
		m.cancel()
		<-m.ended
		errs = append(errs, m.failure)
		if m.stderr != nil {
			errs = append(errs, m.stderr.Close())
		}
	}
	t.members = nil
	return errors.Join(errs...)
}

func (m *member) start(ctx context.Context) (*netlab.Cmd, error) {
	line := m.program.Command(m.node)
	cmd := m.node.Command(ctx, line[0], line[1:]...)
	cmd.Stderr = m.stderr
	// A group of its own, so that its children can be ended with it.
	cmd.SysProcAttr.Setpgid = true
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	m.process = cmd
	m.starts++
	return cmd, nil
}

// supervise starts the program again whenever it ends, until ctx ends.
func (m *member) supervise(ctx context.Context, process *netlab.Cmd) {
	defer close(m.ended)
	for {
		// How it ended does not matter: a static pod is always started again.
		_ = process.Wait()
		// The container's other processes end with its first one.
		_ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL)
		select {
		case <-ctx.Done():
			return
		case <-time.After(restartDelay):
		}
		next, err := m.start(ctx)
		if err != nil {
			if ctx.Err() == nil {
				m.failure = err
			}
			return
		}
		process = next
	}
}

// said gives the last of what the program wrote to its standard error.
func (m *member) said() string {
	const most = 2000
	info, err := m.stderr.Stat()
	if err != nil {
		return err.Error()
	}
	text := make([]byte, min(info.Size(), most))
	if _, err := m.stderr.ReadAt(text, info.Size()-int64(len(text))); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text))
}

// namelessFile gives a file that is gone when it is closed.
func namelessFile() (*os.File, error) {
	f, err := os.CreateTemp("", "homeward-demo-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// signal sends a signal to the program and gives how often it had been started.
func (m *member) signal(s syscall.Signal) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.starts, m.process.Process.Signal(s)
}

// waitStarted waits until the program has been started more often than before.
func (m *member) waitStarted(ctx context.Context, before int) error {
	for {
		m.mu.Lock()
		starts := m.starts
		m.mu.Unlock()
		if starts > before {
			return nil
		}
		select {
		case <-m.ended:
			return fmt.Errorf("waiting for the program's next start: %w", m.failure)
		case <-ctx.Done():
			return fmt.Errorf("waiting for the program's next start: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}
