//go:build linux

package netlab_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

func TestInsideIsPrivate(t *testing.T) {
	netlab.Require(t)
	links, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	if len(links) != 1 || links[0].Name != "lo" || links[0].Flags&net.FlagUp == 0 {
		t.Errorf("links inside: %v, want loopback alone, up", links)
	}
	shown, err := filepath.Glob("/sys/class/net/*")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/sys/class/net/lo"}, shown); diff != "" {
		t.Errorf("/sys shows another namespace (-want +got):\n%s", diff)
	}
	if os.Getuid() != 0 {
		t.Errorf("uid inside is %d", os.Getuid())
	}
}

func TestEnterPassesArgumentsAndExitCode(t *testing.T) {
	netlab.Require(t)
	nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
	for name, credential := range map[string]*syscall.Credential{"root": nil, "ordinary user": nobody} {
		t.Run(name, func(t *testing.T) {
			if credential != nil && !mapped(t, credential.Uid) {
				t.Log("tests run by an ordinary user already: it is the only one there is")
				credential = nil
			}
			cmd := outsideCommand("exit", "a", "b c")
			cmd.SysProcAttr.Credential = credential
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 7 {
				t.Errorf("exit: %v, want code 7", err)
			}
			want := "inside=true uid=0 args=[\"a\" \"b c\"]\n"
			if diff := cmp.Diff(want, string(out)); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEnterPassesSignals(t *testing.T) {
	netlab.Require(t)
	cmd := outsideCommand("signal")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 256)
	if n, _ := out.Read(buf); string(buf[:n]) != "waiting\n" {
		t.Errorf("first output %q", buf[:n])
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	n, _ := out.Read(buf)
	if got := string(buf[:n]); got != "got terminated\n" {
		t.Errorf("output after the signal: %q", got)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 8 {
		t.Errorf("exit: %v, want code 8", err)
	}
}

func TestInsideDiesWithOutside(t *testing.T) {
	netlab.Require(t)
	cmd := outsideCommand("hang")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 32)
	n, _ := out.Read(buf)
	var pid int
	if _, err := fmt.Sscan(string(buf[:n]), &pid); err != nil {
		t.Fatalf("no pid in %q: %v", buf[:n], err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The read end closes when the last process that could write is gone.
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_, _ = out.Read(buf)
	}()
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Errorf("process %d inside outlives its parent", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = cmd.Wait()
}

func TestOrphansEndWithTheLab(t *testing.T) {
	netlab.Require(t)
	out, err := outsideCommand("orphan").Output()
	must(t, err)
	var pid int
	if _, err := fmt.Sscan(string(out), &pid); err != nil {
		t.Fatalf("no pid in %q: %v", out, err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d outlives the lab: %v", pid, err)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestEnterSaysWhyItIsForbidden(t *testing.T) {
	netlab.Require(t)
	cmd := exec.Command("/bin/sh", "-c", `echo 0 > /proc/sys/user/max_net_namespaces && exec "$0"`, "/proc/self/exe")
	outside := outsideCommand("exit")
	cmd.Env = outside.Env
	// /proc/self/exe would be the shell there.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Args[len(cmd.Args)-1] = self
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 3 {
		t.Fatalf("exit: %v, want code 3; output %s", err, out)
	}
	if !bytes.Contains(out, []byte("no space left on device")) {
		t.Errorf("reason %q does not name the limit", out)
	}
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
