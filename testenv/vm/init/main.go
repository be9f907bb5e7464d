//go:build linux

// Command init is the first process of the virtual machine. It mounts what
// programs expect, loads the kernel modules, carries out the order that lies in
// the initramfs, reports each step on a virtio-serial port, and switches off.
//
// It has nobody to tell when the port itself fails: it then says why on the
// console, which the host shows when no result comes.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"golang.org/x/sys/unix"

	"homeward/testenv/vm/wire"
)

func main() {
	first := os.Getpid() == 1
	if !first && !slices.Equal(os.Args[1:], []string{wire.CarryOut}) {
		fmt.Fprintln(os.Stderr, "init: only for the first process of the test machine: it switches the machine off")
		os.Exit(2)
	}
	order, err := readOrder()
	if err == nil && first {
		err = boot(order)
	}
	if err == nil {
		err = work(order, first)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "init:", err)
	}
	unix.Sync()
	// Returns only when it fails; the kernel then panics and ends the machine.
	err = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
	fmt.Fprintln(os.Stderr, "init: switching off:", err)
}

func readOrder() (order wire.Order, err error) {
	text, err := os.ReadFile(wire.OrderPath)
	if err != nil {
		return order, err
	}
	if err := json.Unmarshal(text, &order); err != nil {
		return order, fmt.Errorf("reading the order: %w", err)
	}
	return order, nil
}

// boot prepares the machine. With systemd it does not return: systemd is the first
// process then, and starts this program again.
func boot(order wire.Order) error {
	if err := mountAll(); err != nil {
		return err
	}
	for _, m := range order.Modules {
		if err := loadModule(m); err != nil {
			return err
		}
	}
	if !order.Systemd {
		return nil
	}
	return os.NewSyscallError("exec of systemd", unix.Exec(wire.SystemdPath, []string{"systemd"}, os.Environ()))
}

// work carries out the order.
func work(order wire.Order, first bool) error {
	port, err := findPort(wire.EventsPort)
	if err != nil {
		return err
	}
	monitor, err := findPort(wire.MonitorPort)
	if err != nil {
		return err
	}
	events, err := os.OpenFile(port, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	g := &guest{events: json.NewEncoder(events), monitor: monitor, first: first}
	return errors.Join(g.carryOut(order), events.Close())
}

// guest carries out the order.
type guest struct {
	events  *json.Encoder
	monitor string
	// first says that this is the first process, and alone with what it starts.
	first bool
}

func (g *guest) carryOut(order wire.Order) error {
	if err := g.setUp(order.Setup); err != nil {
		return g.report(wire.Event{Kind: wire.Failed, Text: []byte(err.Error())})
	}
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return err
	}
	if err := g.report(wire.Event{Kind: wire.Ready, Text: []byte(unix.ByteSliceToString(uts.Release[:]))}); err != nil {
		return err
	}
	done := wire.Event{Kind: wire.Done}
	for _, p := range order.Programs {
		exit, err := g.run(p)
		if err != nil {
			return g.report(wire.Event{Kind: wire.Failed, Text: fmt.Appendf(nil, "running %s: %v", p.Name, err)})
		}
		if exit == 0 {
			done.Passed++
		} else {
			done.Failed++
		}
	}
	return g.report(done)
}

// setUp brings up loopback and runs the commands that come before the programs.
func (g *guest) setUp(commands [][]string) error {
	if err := os.Setenv("PATH", "/usr/bin"); err != nil {
		return err
	}
	for _, argv := range append([][]string{{"ip", "link", "set", "lo", "up"}}, commands...) {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("setting up: %q: %w: %s", argv, err, out)
		}
	}
	return nil
}

func (g *guest) report(e wire.Event) error {
	if err := g.events.Encode(e); err != nil {
		return fmt.Errorf("reporting %s: %w", e.Kind, err)
	}
	return nil
}
