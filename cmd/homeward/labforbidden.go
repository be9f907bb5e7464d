//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"strings"

	"homeward/testenv/netlab"
)

// limit is a sysctl that can forbid the lab's namespaces.
type limit struct {
	// file is below /proc/sys; name is what sysctl calls it.
	file, name string
	// bad is the value that forbids, better the one that allows.
	bad, better string
	// whose says which systems have it.
	whose string
}

func limits() []limit {
	return []limit{
		{"kernel/apparmor_restrict_unprivileged_userns", "kernel.apparmor_restrict_unprivileged_userns", "1", "0", "AppArmor's restriction, Ubuntu 23.10 and later"},
		{"kernel/unprivileged_userns_clone", "kernel.unprivileged_userns_clone", "0", "1", "Debian's switch"},
		{"user/max_user_namespaces", "user.max_user_namespaces", "0", "10000", "the kernel's limit"},
		{"user/max_net_namespaces", "user.max_net_namespaces", "0", "10000", "the kernel's limit"},
		{"user/max_mnt_namespaces", "user.max_mnt_namespaces", "0", "10000", "the kernel's limit"},
	}
}

// forbiddenHere says what keeps the lab from its namespaces and how to allow it.
// proc is /proc/sys and args this command line.
func forbiddenHere(cause *netlab.ForbiddenError, proc fs.FS, args []string) error {
	var found, possible []string
	for _, l := range limits() {
		line := fmt.Sprintf("  sudo sysctl -w %s=%s    # %s", l.name, l.better, l.whose)
		value, err := fs.ReadFile(proc, l.file)
		switch {
		case err != nil:
			continue // this kernel does not have it
		case strings.TrimSpace(string(value)) == l.bad:
			found = append(found, line)
		default:
			possible = append(possible, l.name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "this system does not let the lab make its namespaces: %s\n", cause.Reason)
	if len(found) > 0 {
		fmt.Fprintf(&b, "Allow it until the next boot:\n%s\n", strings.Join(found, "\n"))
	} else {
		fmt.Fprintf(&b, "No sysctl forbids it (%s are open): a container's seccomp profile or missing\ncapabilities (CAP_SYS_ADMIN, CAP_NET_ADMIN) may.\n", strings.Join(possible, ", "))
	}
	fmt.Fprintf(&b, "Or run it as root, which touches no network of this machine either:\n  sudo %s", strings.Join(args, " "))
	return fmt.Errorf("%s", b.String())
}
