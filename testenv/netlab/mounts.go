//go:build linux

package netlab

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Mounts is a mount namespace that several programs of a host share, as a
// container runtime and what uses it must. It lives as long as its descriptor
// and its programs: what they mounted is gone with them.
type Mounts struct {
	host *Host
	file *os.File
}

// NewMounts makes a mount namespace with a /sys that shows the host's links and,
// after [EnterAsRoot], the machine's control groups. Then arrange runs in it, to
// mount what else its programs shall see.
func (h *Host) NewMounts(arrange func() error) (*Mounts, error) {
	m := &Mounts{host: h}
	err := h.Do(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return err
		}
		if err := mountSysWithCgroups(); err != nil {
			return err
		}
		if err := arrange(); err != nil {
			return err
		}
		m.file, err = os.Open("/proc/thread-self/ns/mnt")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("making a mount namespace on %s: %w", h.name, err)
	}
	return m, nil
}

// Command is [Host.Command] in this mount namespace.
func (m *Mounts) Command(ctx context.Context, name string, args ...string) *Cmd {
	c := m.host.Command(ctx, name, args...)
	c.mounts = m
	return c
}

// Close gives the namespace up; programs in it keep it.
func (m *Mounts) Close() error { return m.file.Close() }

// enter puts the calling thread into the namespace.
func (m *Mounts) enter() error {
	// The kernel refuses a thread that shares its working directory with others.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("leaving the shared working directory: %w", err)
	}
	if err := unix.Setns(int(m.file.Fd()), unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("entering a mount namespace: %w", err)
	}
	return nil
}

const cgroupDir = "/sys/fs/cgroup"

// mountSysWithCgroups is mountSys that carries the control groups over: they are
// mounted below the old /sys, which the new one hides.
func mountSysWithCgroups() error {
	tree, err := unix.OpenTree(unix.AT_FDCWD, cgroupDir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return fmt.Errorf("taking %s: %w", cgroupDir, err)
	}
	if err := mountSys(); err != nil {
		return errors.Join(err, unix.Close(tree))
	}
	err = unix.MoveMount(tree, "", unix.AT_FDCWD, cgroupDir, unix.MOVE_MOUNT_F_EMPTY_PATH)
	if err != nil {
		err = fmt.Errorf("putting %s back: %w", cgroupDir, err)
	}
	return errors.Join(err, unix.Close(tree))
}
