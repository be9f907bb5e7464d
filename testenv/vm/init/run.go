//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"homeward/testenv/vm/wire"
)

// Time to spare for a program that was told to end, and for the output of what
// it left behind.
const (
	quitWithin  = 5 * time.Second
	drainWithin = 2 * time.Second
)

// run runs one program, streams what it writes and gives its exit code. An error
// means that the machine itself failed.
func (g *guest) run(p wire.Program) (exit int, err error) {
	if err := g.report(wire.Event{Kind: wire.Started, Program: p.Name}); err != nil {
		return 0, err
	}
	began := time.Now()
	output, input, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	pid, err := g.start(p, input)
	if err := errors.Join(err, input.Close()); err != nil {
		return 0, errors.Join(err, output.Close())
	}
	drained := make(chan error, 1)
	go func() { drained <- g.stream(p.Name, output) }()

	status, timedOut, err := reapUntil(pid, p.Timeout)
	if err != nil {
		return 0, err
	}
	if err := g.endOthers(drained, output); err != nil {
		return 0, err
	}
	exit = exitCode(status)
	return exit, g.report(wire.Event{
		Kind: wire.Ended, Program: p.Name, Exit: exit, TimedOut: timedOut, Elapsed: time.Since(began),
	})
}

// start starts the program as the leader of a session, so that a signal can
// reach all of it.
func (g *guest) start(p wire.Program, output *os.File) (pid int, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	own := []string{
		"PATH=/usr/bin", "HOME=/tmp", "TMPDIR=/tmp", "USER=root",
		wire.EnvGuest + "=1", wire.EnvMonitor + "=" + g.monitor,
	}
	pid, err = syscall.ForkExec(p.Argv[0], p.Argv, &syscall.ProcAttr{
		Dir:   p.Dir,
		Env:   slices.Concat(own, p.Env),
		Files: []uintptr{null.Fd(), output.Fd(), output.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("starting %s: %w", p.Argv[0], err)
	}
	return pid, nil
}

// stream reports what can be read from output until its end.
func (g *guest) stream(program string, output *os.File) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := output.Read(buf)
		if n > 0 {
			if err := g.report(wire.Event{Kind: wire.Output, Program: program, Text: buf[:n]}); err != nil {
				return err
			}
		}
		if err != nil {
			return nil // the end, or closed because the program left others behind
		}
	}
}

// reapUntil collects ended processes, as the first process must, until pid is
// among them.
func reapUntil(pid int, timeout time.Duration) (status syscall.WaitStatus, timedOut bool, err error) {
	quit := time.AfterFunc(timeout, func() { _ = syscall.Kill(-pid, syscall.SIGQUIT) })
	kill := time.AfterFunc(timeout+quitWithin, func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
	for {
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, false, fmt.Errorf("waiting for process %d: %w", pid, err)
		case ended == pid:
			kill.Stop()
			return status, !quit.Stop(), nil
		}
	}
}

// endOthers kills what a program left behind, so that it cannot disturb the next
// one, and waits for the last output.
func (g *guest) endOthers(drained <-chan error, output *os.File) error {
	// To the first process -1 is everything but itself and the kernel's threads. As a
	// service it would be all others, and systemd ends what is left with the machine.
	if g.first {
		if err := unix.Kill(-1, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("ending what the program left: %w", err)
		}
	}
	for g.first {
		if _, err := syscall.Wait4(-1, nil, 0, nil); errors.Is(err, syscall.ECHILD) {
			break
		}
	}
	select {
	case err := <-drained:
		return errors.Join(err, output.Close())
	case <-time.After(drainWithin):
		return errors.Join(output.Close(), <-drained)
	}
}

// exitCode is what a shell would say of that end.
func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
