//go:build linux

package netlab_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"homeward/testenv/netlab"
)

// envProgram makes the test binary behave as a program that enters the lab by
// itself; its value says what the program does inside.
const envProgram = "NETLAB_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if role := os.Getenv(envProgram); role != "" {
		os.Exit(program(role))
	}
	netlab.Main(m)
}

// program enters the lab and does what the role asks.
func program(role string) int {
	code, done, err := netlab.Enter()
	var forbidden *netlab.ForbiddenError
	switch {
	case done:
		return code
	case errors.As(err, &forbidden):
		fmt.Println("forbidden:", forbidden.Reason)
		return 3
	case err != nil:
		fmt.Println("error:", err)
		return 4
	}
	switch role {
	case "exit":
		fmt.Printf("inside=%v uid=%d args=%q\n", netlab.Inside(), os.Getuid(), os.Args[1:])
		return 7
	case "signal":
		got := make(chan os.Signal, 1)
		signal.Notify(got, syscall.SIGTERM)
		fmt.Println("waiting")
		fmt.Println("got", <-got)
		return 8
	case "orphan":
		// The shell ends at once and leaves its child behind.
		out, err := exec.Command("sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!").Output()
		fmt.Print(string(out))
		if err != nil {
			return 5
		}
	case "hang":
		fmt.Println(os.Getpid())
		time.Sleep(time.Minute)
	}
	return 0
}

// outsideCommand runs the test binary as a program that is not in the lab yet.
func outsideCommand(role string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "HOMEWARD_NETLAB_") })
	cmd.Env = append(cmd.Env, envProgram+"="+role)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	return cmd
}

// limited runs the test binary as a program whose user namespace allows none of
// one kind of namespace.
func limited(t *testing.T, limit string) (output string, code int) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command("/bin/sh", "-c", `echo 0 > "/proc/sys/user/$1" && exec "$0"`, self, limit)
	cmd.Env = outsideCommand("exit").Env
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
	}
	// The exit code says what the error would.
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

// mapped says whether a user id exists in this user namespace.
func mapped(t *testing.T, uid uint32) bool {
	t.Helper()
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var first, outer, size uint32
		if _, err := fmt.Sscan(line, &first, &outer, &size); err != nil {
			t.Fatal(err)
		}
		if uid >= first && uid-first < size {
			return true
		}
	}
	return false
}
