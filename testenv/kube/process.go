//go:build linux

package kube

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"homeward/testenv/netlab"
)

// Process is one of the cluster's programs at work. Its output is in a file of
// the lab's log directory under its name; a later process of the same name adds
// to it.
type Process struct {
	name  string
	cmd   *netlab.Cmd
	ended chan struct{}
	err   error
}

// stopGrace is how long a program may take to end after SIGTERM.
const stopGrace = 10 * time.Second

// commander prepares a program: [netlab.Host.Command] or that of its mounts.
type commander func(ctx context.Context, name string, args ...string) *netlab.Cmd

// start runs a program until it is stopped, or until the lab closes.
func (l *Lab) start(command commander, name, file string, args ...string) (*Process, error) {
	log, err := os.OpenFile(filepath.Join(l.Logs, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	// It lives as long as it is not stopped, whatever limits its start.
	p := &Process{name: name, cmd: command(context.Background(), file, args...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		p.err = p.cmd.Wait()
	}()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.processes = append(l.processes, p)
	return p, nil
}

// Stop ends the program with SIGTERM, and with SIGKILL when it does not end. One
// that has ended already is no error.
func (p *Process) Stop() error { return p.end(unix.SIGTERM) }

// Kill ends the program with SIGKILL.
func (p *Process) Kill() error { return p.end(unix.SIGKILL) }

func (p *Process) end(signal unix.Signal) error {
	if p.Ended() {
		return nil
	}
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ending %s: %w", p.name, err)
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopGrace):
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing %s: %w", p.name, err)
	}
	<-p.ended
	return nil
}

// Ended says whether the program has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// stopAll stops programs, the latest first, and waits for all of them.
func stopAll(processes []*Process) error {
	var errs []error
	for i := len(processes) - 1; i >= 0; i-- {
		errs = append(errs, processes[i].Stop())
	}
	return errors.Join(errs...)
}

// waitEvery is how often a condition is looked at.
const waitEvery = 200 * time.Millisecond

// WaitFor looks at a condition until it holds or ctx ends; then the error says
// what was awaited and what was wrong last.
func WaitFor(ctx context.Context, what string, holds func(context.Context) error) error {
	for {
		err := holds(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w: %w", what, ctx.Err(), err)
		case <-time.After(waitEvery):
		}
	}
}

// together does things at once and gives all their errors.
func together(steps ...func() error) error {
	errs := make([]error, len(steps))
	var running sync.WaitGroup
	for i, step := range steps {
		running.Go(func() { errs[i] = step() })
	}
	running.Wait()
	return errors.Join(errs...)
}
