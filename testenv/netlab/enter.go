//go:build linux

package netlab

import (
	"fmt"
	"os"
	"strings"
)

// The environment tells a process where it stands, so that no package state is
// needed and programs started inside know it too.
const (
	// envOutside is the inode of the network namespace that the lab was entered
	// from. A process with another one is inside.
	envOutside = "HOMEWARD_NETLAB_OUTSIDE"
	// envSetup is set only for the first process inside, which has to prepare
	// the namespaces and report on descriptor 3.
	envSetup = "HOMEWARD_NETLAB_SETUP"
	// asRoot is envSetup's value where there is no user namespace and programs
	// of the lab need the machine's control groups.
	asRoot = "root"
	// envForbidden is why the lab could not be entered, for Require.
	envForbidden = "HOMEWARD_NETLAB_FORBIDDEN"
)

// ForbiddenError says that this system does not let us make the namespaces.
type ForbiddenError struct {
	// Reason is what failed.
	Reason string
}

// Error gives the reason and what the administrator can allow.
func (e *ForbiddenError) Error() string {
	return "namespaces are forbidden here: " + e.Reason +
		" (allow user namespaces: sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone," +
		" kernel.apparmor_restrict_unprivileged_userns=0; or run as root with CAP_SYS_ADMIN and CAP_NET_ADMIN)"
}

// TestRunner is *testing.M.
type TestRunner interface{ Run() int }

// TB is the part of testing.TB that the lab needs.
type TB interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
}

// Main is the body of a TestMain: it runs the tests inside the lab, or where
// that is forbidden, outside with every Require skipping. It does not return.
func Main(m TestRunner) {
	code, done, err := Enter()
	if done {
		os.Exit(code)
	}
	if err != nil {
		if err := os.Setenv(envForbidden, strings.ReplaceAll(err.Error(), "\x00", "")); err != nil {
			fmt.Fprintln(os.Stderr, "netlab:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// Require skips the test when the lab could not be entered, with the reason;
// with CI=true that is a failure. A test without netlab.Main in its package's
// TestMain fails: it would change the machine's own network.
func Require(t TB) {
	t.Helper()
	if Inside() {
		return
	}
	reason := os.Getenv(envForbidden)
	switch {
	case reason == "":
		t.Fatal("not inside the lab: the package's TestMain must call netlab.Main")
	case os.Getenv("CI") == "true":
		t.Fatal(reason)
	default:
		t.Skip(reason)
	}
}

// Inside says whether this process runs in a lab's namespaces.
func Inside() bool {
	outside := os.Getenv(envOutside)
	if outside == "" {
		return false
	}
	here, err := os.Readlink("/proc/self/ns/net")
	return err == nil && here != outside
}

// Enter runs this program again, with the same arguments, input and output, in
// new user, network and mount namespaces, where it is root, loopback is up and
// /sys shows the new network namespace.
//
// Outside it returns when that second process has ended: done is true and code
// is its exit code (128 and the signal's number when a signal ended it). Signals
// are passed on to it, and it dies when this process does. Inside it returns at
// once with done false and no error. Where namespaces are forbidden it returns a
// *ForbiddenError and nothing has run.
func Enter() (code int, done bool, err error) {
	if os.Getenv(envSetup) != "" {
		return 0, false, arrive()
	}
	if Inside() {
		return 0, false, nil
	}
	code, err = reexec(withUserNamespace)
	if err != nil && os.Geteuid() == 0 {
		// A container may forbid user namespaces and still give its root the rest.
		var second error
		if code, second = reexec(withoutUserNamespace); second == nil {
			err = nil
		}
	}
	if err != nil {
		return 0, false, &ForbiddenError{Reason: err.Error()}
	}
	return code, true, nil
}

// EnterAsRoot is [Enter] without a user namespace and with the machine's control
// groups in /sys/fs/cgroup: container runtimes need both. Only root may do it.
// What the lab's programs change outside network and mounts (control groups,
// sysctls that have no namespace) is the machine's and stays.
func EnterAsRoot() (code int, done bool, err error) {
	if os.Getenv(envSetup) != "" {
		return 0, false, arrive()
	}
	if Inside() {
		return 0, false, nil
	}
	if code, err = reexec(withCgroups); err != nil {
		return 0, false, &ForbiddenError{Reason: err.Error()}
	}
	return code, true, nil
}
