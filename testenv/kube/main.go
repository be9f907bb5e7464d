//go:build linux

package kube

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"homeward/testenv/kube/parts"
	"homeward/testenv/netlab"
)

// WantedVariable is the environment variable that asks for the lab: it needs
// root, minutes and gigabytes, which nobody expects of `go test ./...`.
const WantedVariable = "HOMEWARD_KUBE"

// Wanted says whether the lab was asked for.
func Wanted() bool { return os.Getenv(WantedVariable) == "1" }

// Main is the body of a TestMain: it builds the parts where there is a network,
// then runs the tests inside the lab's namespaces, and puts back what kubelets
// change of the whole machine, however the tests have ended.
func Main(m netlab.TestRunner) int {
	if !Wanted() {
		return m.Run()
	}
	code, err := mainInside(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kube:", err)
		return max(code, 1)
	}
	return code
}

func mainInside(m netlab.TestRunner) (int, error) {
	if netlab.Inside() {
		// The arrival's second half, when this is the first time here.
		if _, _, err := netlab.EnterAsRoot(); err != nil {
			return 1, err
		}
		return m.Run(), nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	_, err := parts.Ensure(ctx, os.Stderr)
	stop()
	if err != nil {
		return 1, err
	}
	before, err := readSysctls()
	if err != nil {
		return 1, err
	}
	code, _, err := netlab.EnterAsRoot()
	errs := []error{err, before.restore()}
	for i := range machineCount {
		errs = append(errs, removeCgroups(cgroupName(i)))
	}
	return code, errors.Join(errs...)
}

// sysctls are values of the whole machine by their path below /proc/sys.
type sysctls map[string]string

// readSysctls remembers what a kubelet sets to its own liking when it starts.
func readSysctls() (sysctls, error) {
	values := sysctls{}
	for _, key := range []string{
		"kernel/panic", "kernel/panic_on_oops", "vm/overcommit_memory", "vm/panic_on_oom",
		"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
	} {
		text, err := os.ReadFile(filepath.Join("/proc/sys", key))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		values[key] = strings.TrimSpace(string(text))
	}
	return values, nil
}

// restore writes the remembered values where others are now.
func (s sysctls) restore() error {
	now, err := readSysctls()
	errs := []error{err}
	for key, value := range s {
		if now[key] != value {
			errs = append(errs, os.WriteFile(filepath.Join("/proc/sys", key), []byte(value), 0))
		}
	}
	return errors.Join(errs...)
}
