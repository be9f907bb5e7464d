//go:build linux

package netlab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Cmd is a program that runs inside a host. Use it as an exec.Cmd; it dies when
// this process does. What Start started must be waited for.
type Cmd struct {
	*exec.Cmd
	host *Host
	// mounts nil gives the program a mount namespace of its own.
	mounts *Mounts
	ended  chan struct{}
}

// Command prepares a program to run inside the host, with a /sys of its own that
// shows the host's links. When ctx ends the program is killed.
func (h *Host) Command(ctx context.Context, name string, args ...string) *Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	return &Cmd{Cmd: cmd, host: h}
}

// Start starts the program.
func (c *Cmd) Start() error {
	started := make(chan error, 1)
	c.ended = make(chan struct{})
	go func() {
		reported := false
		err := onOwnThread(func() error {
			if err := c.enter(); err != nil {
				return err
			}
			if err := c.Cmd.Start(); err != nil {
				return err
			}
			started <- nil
			reported = true
			// Pdeathsig counts from this thread, so it stays until the end.
			<-c.ended
			return nil
		})
		if !reported {
			started <- err
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("starting %s on %s: %w", c.Path, c.host.name, err)
	}
	return nil
}

// enter puts the calling thread, and so what it starts, into the host.
func (c *Cmd) enter() error {
	if err := netns.Set(netns.NsHandle(c.host.FD())); err != nil {
		return err
	}
	if c.mounts != nil {
		return c.mounts.enter()
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("making a mount namespace: %w", err)
	}
	return mountSys()
}

// Wait waits for the program that Start started.
func (c *Cmd) Wait() error {
	if c.ended == nil {
		return errors.New("waiting for a program that was not started")
	}
	defer close(c.ended)
	return c.Cmd.Wait()
}

// Run starts the program and waits for it.
func (c *Cmd) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// Output runs the program and gives its standard output; the error of a program
// that failed quotes its standard error.
func (c *Cmd) Output() ([]byte, error) {
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if err != nil {
		err = fmt.Errorf("running %s on %s: %w: %s", c.Path, c.host.name, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), err
}

// CombinedOutput runs the program and gives what it wrote to both outputs.
func (c *Cmd) CombinedOutput() ([]byte, error) {
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.Bytes(), err
}
