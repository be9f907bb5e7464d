//go:build linux

package netlab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// reportFD is where the first process inside finds the pipe to its parent.
const reportFD = 3

// arrive prepares the new namespaces and tells the parent, which otherwise
// carries on outside. It ends the process when it fails: the parent is the one
// to decide what happens then.
func arrive() error {
	cgroups := os.Getenv(envSetup) == asRoot
	if err := os.Unsetenv(envSetup); err != nil {
		return err
	}
	report := os.NewFile(reportFD, "report")
	if report == nil {
		return errors.New("entering the lab: no descriptor to report on")
	}
	err := prepare(cgroups)
	said := readyWord
	if err != nil {
		said = err.Error()
	}
	if _, writeErr := report.WriteString(said); err == nil {
		err = writeErr
	}
	if err != nil {
		os.Exit(1)
	}
	return report.Close()
}

// prepare makes the namespaces usable, and with each step proves that we may do
// what the lab does: some systems allow the namespace and refuse its powers.
func prepare(cgroups bool) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	mount := mountSys
	if cgroups {
		mount = mountSysWithCgroups
	}
	if err := mount(); err != nil {
		return err
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("finding loopback: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("bringing loopback up: %w", err)
	}
	if err := mayMakeNamespace(); err != nil {
		return err
	}
	return provideRunNetns()
}

// mountSys puts a /sys over the old one that shows the links of the calling
// thread's network namespace: sysfs shows those of the one who mounted it.
func mountSys() error {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	err := unix.Mount("sysfs", "/sys", "sysfs", flags, "")
	if err != nil {
		// A container's read-only /sys may be mounted again read-only only.
		err = unix.Mount("sysfs", "/sys", "sysfs", flags|unix.MS_RDONLY, "")
	}
	if err != nil {
		return fmt.Errorf("mounting /sys: %w", err)
	}
	return nil
}

// mayMakeNamespace tries what every host of the lab needs, on a thread that ends
// with it.
func mayMakeNamespace() error {
	return onOwnThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("making a second network namespace: %w", err)
		}
		if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0); err != nil {
			return fmt.Errorf("allowing forwarding: %w", err)
		}
		return nil
	})
}

// provideRunNetns gives programs that keep named namespaces (ip netns) a private
// place for them. The lab's own hosts have no names, so a system where /run
// cannot take one only loses that.
func provideRunNetns() error {
	const dir = "/run/netns"
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mounting %s: %w", filepath.Clean(dir), err)
	}
	return nil
}
