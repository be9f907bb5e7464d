//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"homeward/testenv/vm/wire"
)

// portWithin is how long the kernel may take to find the virtio-serial ports
// after their module is loaded.
const portWithin = 20 * time.Second

// mountAll mounts the file systems that programs expect. /sys and /proc stay
// free of other mounts: the kernel lets a user namespace mount its own only when
// the ones outside are wholly visible.
func mountAll() error {
	mounts := []struct{ kind, dir, data string }{
		{"proc", "/proc", ""},
		{"sysfs", "/sys", ""},
		{"devtmpfs", "/dev", ""},
		{"devpts", "/dev/pts", ""},
		{"tmpfs", "/dev/shm", "mode=1777"},
		{"tmpfs", "/run", "mode=0755"},
		{"tmpfs", "/tmp", "mode=1777"},
	}
	for _, m := range mounts {
		if err := os.MkdirAll(m.dir, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.dir, m.kind, 0, m.data); err != nil {
			return fmt.Errorf("mounting %s: %w", m.dir, err)
		}
	}
	return nil
}

// loadModule loads a kernel module. One that the kernel has already is no error.
func loadModule(m wire.Module) error {
	f, err := os.Open(m.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	err = unix.FinitModule(int(f.Fd()), m.Options, 0)
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("loading %s: %w", filepath.Base(m.Path), err)
	}
	return nil
}

// findPort gives the device file of the virtio-serial port of that name.
func findPort(name string) (string, error) {
	var seen []string
	for end := time.Now().Add(portWithin); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		files, err := filepath.Glob("/sys/class/virtio-ports/*/name")
		if err != nil {
			return "", err
		}
		seen = seen[:0]
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // the port's name comes after the port
			}
			if strings.TrimSpace(string(text)) == name {
				return filepath.Join("/dev", filepath.Base(filepath.Dir(file))), nil
			}
			seen = append(seen, strings.TrimSpace(string(text)))
		}
	}
	return "", fmt.Errorf("no virtio-serial port %s within %s, only %q", name, portWithin, seen)
}
