//go:build linux

// Package guest is for tests that run inside the virtual machine: they ask the
// host for what only it can do, and may do to their machine what no test may do
// to anybody's.
//
// The tests of this package run there in the machine's own network namespace,
// beside the NICs, and count as inside netlab's lab, so that they can make
// hosts and move NICs into them. Put a test of the product that needs a NIC with
// a permanent address, a VLAN-aware bridge, a replug or a wrong clock here.
package guest

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"homeward/testenv/vm/wire"
)

// The machine that these tests get has five NICs: two pairs, each on one wire, so
// that what leaves one arrives at the other, and one alone.
const (
	Uplink  = "uplink"
	Partner = "partner"
	Alone   = "alone"
	// External is a node's NIC and Port the bridge port that Proxmox VE gives it.
	External = "external"
	Port     = "port"
)

// Agent is where the agent's program lies in the machine.
const Agent = "/usr/bin/homeward-agent"

// MAC gives the permanent address of a NIC; it panics on a name that is none.
func MAC(nic string) net.HardwareAddr {
	last, ok := map[string]byte{Uplink: 1, Partner: 2, Alone: 3, External: 4, Port: 5}[nic]
	if !ok {
		panic("guest: no NIC " + nic)
	}
	return net.HardwareAddr{0xbc, 0x24, 0x11, 0, 0, last}
}

// TB is the part of testing.TB that is needed here.
type TB interface {
	Helper()
	Cleanup(func())
	Error(args ...any)
	Fatal(args ...any)
	Skip(args ...any)
}

// Inside says whether this process runs inside the virtual machine.
func Inside() bool { return os.Getenv(wire.EnvGuest) == "1" }

// Require skips a test outside the virtual machine.
func Require(t TB) {
	t.Helper()
	if !Inside() {
		t.Skip("only inside the virtual machine: make test-vm runs it there")
	}
}

// Unplug pulls a NIC out of the machine and returns when the kernel has let it
// go.
func Unplug(t TB, nic string) {
	t.Helper()
	request(t, "unplug "+nic)
}

// Plug puts a NIC that was unplugged in again. The kernel finds it some time
// later, with another index.
func Plug(t TB, nic string) {
	t.Helper()
	request(t, "plug "+nic)
}

// SetCable plugs a NIC's cable in or pulls it out: the NIC gets or loses its
// carrier.
func SetCable(t TB, nic string, in bool) {
	t.Helper()
	state := "down"
	if in {
		state = "up"
	}
	request(t, "link "+nic+" "+state)
}

// request asks the host. The port can be open once only, so tests that ask do
// not run in parallel.
func request(t TB, line string) {
	t.Helper()
	Require(t)
	if err := ask(os.Getenv(wire.EnvMonitor), line); err != nil {
		t.Fatal(err)
	}
}

func ask(device, line string) error {
	port, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("asking the host: %w", err)
	}
	defer port.Close()
	if _, err := fmt.Fprintln(port, line); err != nil {
		return fmt.Errorf("asking the host: %w", err)
	}
	answer, err := bufio.NewReader(port).ReadString('\n')
	if err != nil {
		return fmt.Errorf("asking the host %q: %w", line, err)
	}
	if answer = strings.TrimSpace(answer); answer != "ok" {
		return fmt.Errorf("asking the host %q: %s", line, answer)
	}
	return nil
}

// SetClock moves the machine's wall clock by that much, backwards when it is
// negative. When the test ends the clock shows the true time again, as far as it
// was true before. Monotonic time goes on undisturbed.
func SetClock(t TB, by time.Duration) {
	t.Helper()
	Require(t)
	began := time.Now()
	if err := setClock(began.Add(by)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := setClock(began.Add(time.Since(began))); err != nil {
			t.Error(err)
		}
	})
}

func setClock(to time.Time) error {
	ts := unix.NsecToTimespec(to.UnixNano())
	if err := unix.ClockSettime(unix.CLOCK_REALTIME, &ts); err != nil {
		return fmt.Errorf("setting the clock to %s: %w", to, err)
	}
	return nil
}
