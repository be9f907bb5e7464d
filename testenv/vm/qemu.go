//go:build linux

package vm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"homeward/testenv/vm/wire"
)

// qemuProgram is QEMU for the one architecture whose Debian kernel is fetched.
const qemuProgram = "qemu-system-x86_64"

// What QEMU gets from us, by the descriptor that it has there. Connected sockets
// and a file without a name cannot be left behind, however the two of us end.
const (
	fdControl = 3 + iota
	fdEvents
	fdMonitor
	fdInitrd
)

// kernelLine shows warnings and worse on the console and ends the machine when the
// kernel panics. Under emulation the kernel would trust no clock that can be read
// cheaply, and Go programs read the clock all the time.
const kernelLine = "console=ttyS0 loglevel=4 panic=-1 mitigations=off tsc=reliable clocksource=tsc"

// machine is a running QEMU.
type machine struct {
	cmd *exec.Cmd
	// control speaks QMP; events and monitor are the guest's ports.
	control, events, monitor net.Conn
	console                  *tail
	// ended is closed when the process has ended; then waitErr says how.
	ended   chan struct{}
	waitErr error
}

// arguments is the command line for a job.
func arguments(job Job) []string {
	memory := job.Memory
	if memory == 0 {
		memory = defaultMemory
	}
	args := []string{
		"-no-user-config", "-nodefaults", "-display", "none", "-no-reboot",
		// KVM where it may be used, else emulation.
		"-machine", "q35", "-accel", "kvm", "-accel", "tcg", "-cpu", "max",
		"-smp", "2", "-m", strconv.Itoa(memory),
		"-kernel", job.Kernel.Image, "-initrd", "/proc/self/fd/" + strconv.Itoa(fdInitrd),
		"-append", kernelLine,
		"-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console",
		"-chardev", "socket,id=control,fd=" + strconv.Itoa(fdControl), "-mon", "chardev=control,mode=control",
		"-chardev", "socket,id=events,fd=" + strconv.Itoa(fdEvents),
		"-chardev", "socket,id=monitor,fd=" + strconv.Itoa(fdMonitor),
		"-device", "virtio-serial-pci",
		"-device", "virtserialport,chardev=events,name=" + wire.EventsPort,
		"-device", "virtserialport,chardev=monitor,name=" + wire.MonitorPort,
	}
	for i, n := range job.NICs {
		slot := strconv.Itoa(i + 1)
		args = append(args,
			// A port of its own is where a NIC can be plugged in while the machine runs.
			"-device", "pcie-root-port,id="+portOf(n)+",chassis="+slot+",slot="+slot,
			"-netdev", "hubport,id="+cableOf(n)+",hubid="+strconv.Itoa(n.Segment),
			"-device", "virtio-net-pci,id="+n.ID+",netdev="+cableOf(n)+",bus="+portOf(n)+",mac="+n.MAC.String()+",romfile=",
		)
	}
	return args
}

// portOf and cableOf name what stays when the NIC is unplugged.
func portOf(n NIC) string  { return "port-" + n.ID }
func cableOf(n NIC) string { return "cable-" + n.ID }

// startMachine starts QEMU. When ctx ends it is killed. The initrd
// stays the caller's.
func startMachine(ctx context.Context, args []string, initrd *os.File) (*machine, error) {
	program, err := exec.LookPath(qemuProgram)
	if err != nil {
		return nil, fmt.Errorf("%w (Debian: apt-get install qemu-system-x86)", err)
	}
	m := &machine{cmd: exec.CommandContext(ctx, program, args...), console: &tail{}, ended: make(chan struct{})}
	m.cmd.Stdout, m.cmd.Stderr = m.console, m.console
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	for _, conn := range []*net.Conn{&m.control, &m.events, &m.monitor} {
		theirs, err := m.channel(conn)
		if err != nil {
			return nil, errors.Join(err, m.close())
		}
		m.cmd.ExtraFiles = append(m.cmd.ExtraFiles, theirs)
	}
	channels := m.cmd.ExtraFiles
	m.cmd.ExtraFiles = slices.Concat(channels, []*os.File{initrd})
	started := make(chan error)
	go func() {
		// Pdeathsig counts from this thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := m.cmd.Start()
		started <- err
		if err == nil {
			m.waitErr = m.cmd.Wait()
		}
		close(m.ended)
	}()
	err = <-started
	for _, f := range channels {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", qemuProgram, err), m.close())
	}
	return m, nil
}

// channel makes a connected pair of sockets: ours is stored, theirs returned.
func (m *machine) channel(ours *net.Conn) (theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making a channel: %w", err)
	}
	file := os.NewFile(uintptr(fds[0]), "channel")
	*ours, err = net.FileConn(file)
	return os.NewFile(uintptr(fds[1]), "channel"), errors.Join(err, file.Close())
}

// close gives the channels up.
func (m *machine) close() error {
	var errs []error
	for _, c := range []net.Conn{m.control, m.events, m.monitor} {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// kill ends the process, if it runs, and waits for it.
func (m *machine) kill() {
	_ = m.cmd.Process.Kill() // an error means that it has ended
	<-m.ended
}
