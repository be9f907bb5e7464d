//go:build linux

package netlab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaceKind is which namespaces the second process gets.
type namespaceKind int

const (
	withUserNamespace namespaceKind = iota
	withoutUserNamespace
	// withCgroups is withoutUserNamespace with the machine's control groups.
	withCgroups
)

// setup is what the second process is told to prepare.
func (k namespaceKind) setup() string {
	if k == withCgroups {
		return asRoot
	}
	return "1"
}

// readyWord is what the second process reports when its namespaces are ready;
// anything else is the reason why they are not.
const readyWord = "ready"

// reexec runs this program again in new namespaces and waits for it. An error
// means that the program's own code has not run there.
func reexec(kind namespaceKind) (int, error) {
	// Pdeathsig counts from the thread that started the child, so this goroutine
	// must keep its thread until the child has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	outside, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return 0, err
	}
	report, reportChild, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer report.Close()

	cmd := exec.Command("/proc/self/exe")
	cmd.Args = os.Args
	cmd.Env = append(os.Environ(), envOutside+"="+outside, envSetup+"="+kind.setup())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{reportChild}
	cmd.SysProcAttr = attributes(kind)

	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2)
	defer signal.Stop(signals)

	if err := adoptOrphans(); err != nil {
		return 0, err
	}
	err = cmd.Start()
	reportChild.Close()
	if err != nil {
		return 0, fmt.Errorf("making namespaces: %w", err)
	}
	said, err := io.ReadAll(report)
	if err != nil || string(said) != readyWord {
		// The child has no way to go on; it ends by itself.
		waitErr := cmd.Wait()
		return 0, notReady(string(said), errors.Join(err, waitErr))
	}
	return wait(cmd, signals)
}

func notReady(said string, err error) error {
	if said = strings.TrimSpace(said); said != "" {
		return errors.New(said)
	}
	return fmt.Errorf("preparing namespaces: no report: %w", err)
}

// attributes asks for the namespaces. The ids are mapped one to one where that
// is allowed (root), so that files keep their owners; an ordinary user becomes
// root of the namespace and nobody else.
func attributes(kind namespaceKind) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS,
		Pdeathsig:  unix.SIGKILL,
	}
	if kind != withUserNamespace {
		return attr
	}
	attr.Cloneflags |= unix.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	if os.Geteuid() == 0 {
		uids, gids := ownMap("/proc/self/uid_map"), ownMap("/proc/self/gid_map")
		if uids != nil && gids != nil {
			attr.UidMappings, attr.GidMappings = uids, gids
			attr.GidMappingsEnableSetgroups = true
		}
	}
	return attr
}

// ownMap gives the ids that exist in our own user namespace, each mapped to
// itself; nil when the file cannot be read.
func ownMap(file string) []syscall.SysProcIDMap {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var ids []syscall.SysProcIDMap
	for line := range strings.Lines(string(text)) {
		var first, outer, size int
		if _, err := fmt.Sscan(line, &first, &outer, &size); err != nil {
			return nil
		}
		ids = append(ids, syscall.SysProcIDMap{ContainerID: first, HostID: first, Size: size})
	}
	return ids
}

// wait passes signals on until the child has ended.
func wait(cmd *exec.Cmd, signals <-chan os.Signal) (int, error) {
	ended := make(chan struct{})
	passing := make(chan struct{})
	go func() {
		defer close(passing)
		for {
			select {
			case s := <-signals:
				if !terminalDelivers(s) {
					// An error means that the child has just ended.
					_ = cmd.Process.Signal(s)
				}
			case <-ended:
				return
			}
		}
	}()
	err := cmd.Wait()
	close(ended)
	<-passing
	if err := endOrphans(); err != nil {
		fmt.Fprintln(os.Stderr, "netlab:", err)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 1, nil
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

// terminalDelivers says that the child has this signal already: a terminal sends
// it to the whole foreground group, and twice would mean "at once" to many
// programs.
func terminalDelivers(s os.Signal) bool {
	if s != unix.SIGINT && s != unix.SIGQUIT {
		return false
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	foreground, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}
