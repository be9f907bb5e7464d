//go:build linux

package vm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"homeward/testenv/vm/wire"
)

// offWithin is how long the machine may take to switch itself off.
const offWithin = 20 * time.Second

// Run boots a machine, lets it do the job and gives what came of it. An error
// means that the machine did not get through: what the result holds until then
// is true, but no more. When ctx ends the machine is killed. Nothing is left
// behind.
func Run(ctx context.Context, job Job) (Result, error) {
	if err := job.check(); err != nil {
		return Result{}, err
	}
	initrd, err := writeInitramfs(job)
	if err != nil {
		return Result{}, fmt.Errorf("making the initramfs: %w", err)
	}
	defer initrd.Close()
	m, err := startMachine(ctx, arguments(job), initrd)
	if err != nil {
		return Result{}, err
	}
	r := runner{job: job, machine: m, began: time.Now()}
	err = r.follow(ctx)
	m.kill()
	err = errors.Join(err, m.close())
	r.result.Console = m.console.String()
	if err != nil {
		err = fmt.Errorf("virtual machine: %w\nthe end of its console:\n%s", err, r.result.Console)
	}
	return r.result, err
}

// writeInitramfs gives a file in memory that has no name.
func writeInitramfs(job Job) (*os.File, error) {
	a, err := initramfs(job)
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("initrd", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "initrd")
	if err := a.writeTo(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// runner gathers what a machine reports.
type runner struct {
	job     Job
	machine *machine
	began   time.Time
	result  Result
}

// follow reads events until the last one and waits until the machine is off.
func (r *runner) follow(ctx context.Context) error {
	q, err := newQMP(ctx, r.machine.control)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- newMonitor(q, r.job.NICs).serve(ctx, r.machine.monitor) }()

	dec := json.NewDecoder(r.machine.events)
	for last := false; !last; {
		var e wire.Event
		if err := dec.Decode(&e); err != nil {
			return errors.Join(fmt.Errorf("it ended without a result: %w", err), ctx.Err())
		}
		if last, err = r.take(e); err != nil {
			return err
		}
	}
	select {
	case <-r.machine.ended:
	case <-time.After(offWithin):
		return fmt.Errorf("it did not switch off within %s", offWithin)
	}
	if r.machine.waitErr != nil {
		return fmt.Errorf("%s: %w", qemuProgram, r.machine.waitErr)
	}
	return <-served
}

// take adds one event to the result and says whether it was the last.
func (r *runner) take(e wire.Event) (last bool, err error) {
	switch e.Kind {
	case wire.Ready:
		r.result.Release, r.result.Boot = string(e.Text), time.Since(r.began)
	case wire.Started:
		r.result.Binaries = append(r.result.Binaries, BinaryResult{Name: e.Program, Exit: -1})
	case wire.Output, wire.Ended:
		at := slices.IndexFunc(r.result.Binaries, func(b BinaryResult) bool { return b.Name == e.Program })
		if at < 0 {
			return false, fmt.Errorf("it reports %s of %q, which did not start", e.Kind, e.Program)
		}
		b := &r.result.Binaries[at]
		b.Output = append(b.Output, e.Text...)
		if e.Kind == wire.Ended {
			b.Exit, b.TimedOut, b.Elapsed = e.Exit, e.TimedOut, e.Elapsed
		} else if r.job.Output != nil {
			_, err = r.job.Output.Write(e.Text)
		}
		return false, err
	case wire.Failed:
		return true, fmt.Errorf("it gave up: %s", e.Text)
	case wire.Done:
		return true, r.count(e)
	default:
		return false, fmt.Errorf("it reports %q, which is not known", e.Kind)
	}
	return false, nil
}

// count compares the guest's count with what was received and asked for.
func (r *runner) count(e wire.Event) error {
	passed, failed := 0, 0
	for _, b := range r.result.Binaries {
		if b.Exit == 0 {
			passed++
		} else {
			failed++
		}
	}
	if passed != e.Passed || failed != e.Failed || passed+failed != len(r.job.Binaries) {
		return fmt.Errorf("it counts %d passed and %d failed of %d binaries, received were %d and %d",
			e.Passed, e.Failed, len(r.job.Binaries), passed, failed)
	}
	return nil
}
