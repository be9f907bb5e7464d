//go:build linux

package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"homeward/testenv/netlab"
)

// TestLabForbidden runs the tool in a user namespace that allows no network
// namespace.
func TestLabForbidden(t *testing.T) {
	needLab(t)
	r := newLabRun(t)
	for _, args := range [][]string{{"lab", "demo"}, {"lab", "up"}, {"lab", "up", "--foreground"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			inner := r.command(append(args, "--agent", standIn(t))...)
			cmd := exec.Command("/bin/sh", append([]string{"-c", `echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"`, "sh", inner.Path}, inner.Args[1:]...)...)
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd.Args[4] = self // /proc/self would be the shell
			cmd.Env = inner.Env
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  syscall.CLONE_NEWUSER,
				UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
			}
			got := finish(t, cmd)
			for _, want := range []string{"does not let the lab make its namespaces", "sudo sysctl -w user.max_net_namespaces=", "sudo " + self + " " + strings.Join(args, " ")} {
				if got.code != 1 || !strings.Contains(got.err, want) {
					t.Errorf("exit %d, want 1; no %q in:\n%s", got.code, want, got.err)
				}
			}
		})
	}
}

func sysctls(values map[string]string) fstest.MapFS {
	proc := fstest.MapFS{}
	for name, value := range values {
		proc[name] = &fstest.MapFile{Data: []byte(value)}
	}
	return proc
}

func TestLabForbiddenAdvice(t *testing.T) {
	cause := &netlab.ForbiddenError{Reason: "operation not permitted"}
	tests := map[string]struct {
		sysctls map[string]string
		want    string
		not     string
	}{
		"AppArmor":         {map[string]string{"kernel/apparmor_restrict_unprivileged_userns": "1\n"}, "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", "No sysctl"},
		"Debian's switch":  {map[string]string{"kernel/unprivileged_userns_clone": "0\n"}, "sysctl -w kernel.unprivileged_userns_clone=1", "No sysctl"},
		"none allowed":     {map[string]string{"user/max_user_namespaces": "0\n"}, "sysctl -w user.max_user_namespaces=10000", "No sysctl"},
		"all of them open": {map[string]string{"user/max_user_namespaces": "900\n", "kernel/unprivileged_userns_clone": "1\n"}, "No sysctl forbids it", "sysctl -w"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := forbiddenHere(cause, sysctls(test.sysctls), []string{"homeward", "lab", "demo"})
			for _, want := range []string{test.want, "operation not permitted", "sudo homeward lab demo"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in:\n%v", want, err)
				}
			}
			if strings.Contains(err.Error(), test.not) {
				t.Errorf("%q in:\n%v", test.not, err)
			}
			if codeOf(err) != exitFailed {
				t.Errorf("exit code %d", codeOf(err))
			}
		})
	}
}
