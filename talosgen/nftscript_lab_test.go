package talosgen_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"homeward/netplan"
	"homeward/testenv/netlab"
)

const (
	// repairWithin is far more than the script's pause of 2 s, which has a test of
	// its own: other tests make the machine busy.
	repairWithin = 30 * time.Second
	// lookEvery is how often a test looks, not to be the load itself.
	lookEvery = 200 * time.Millisecond
	// grace is the pod's termination grace.
	grace = 5 * time.Second
	// severalPasses is long enough for the script to do what it should not.
	severalPasses = 5 * time.Second
)

// imageCommands are all that the kube-proxy image has besides iptables and kmod.
var imageCommands = []string{"dash", "cat", "chmod", "grep", "ln", "rm", "sleep", "wc", "nft"}

// node is a host of the lab that stands for one cluster node, with nothing of
// ours in it.
type node struct {
	t    *testing.T
	host *netlab.Host
	nft  string
	// bin is all that the script finds in its PATH.
	bin string
	mac string
	// log is what the script that was started last says, nil before.
	log *logBuffer
}

func newNode(t *testing.T, p *netplan.Plan) *node {
	t.Helper()
	netlab.Require(t)
	host, err := netlab.NewHost(onWorker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	})
	n := &node{t: t, host: host, bin: t.TempDir(), mac: podMachine(t, p, onWorker).MACs.External.String()}
	for _, name := range imageCommands {
		target, err := exec.LookPath(name)
		if err != nil {
			t.Fatal("this test needs the command:", err)
		}
		if err := os.Symlink(target, filepath.Join(n.bin, name)); err != nil {
			t.Fatal(err)
		}
		if name == "nft" {
			n.nft = target
		}
	}
	return n
}

// on gives the same node for the messages of a subtest.
func (n *node) on(t *testing.T) *node {
	c := *n
	c.t = t
	return &c
}

// run runs a line of shell with the test's own commands and gives its output.
func (n *node) run(line string) string {
	n.t.Helper()
	out, err := n.host.Command(n.t.Context(), "sh", "-ec", line).CombinedOutput()
	if err != nil {
		n.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// addNIC makes a link of that name and MAC. A veth pair stands for a NIC.
func (n *node) addNIC(name, mac string) {
	n.t.Helper()
	n.run("ip link add name '" + name + "' address " + mac + " type veth peer name 'p-" + name + "'")
}

// listing is how this nft lists a table, without counter values; empty when it is
// not there.
func (n *node) listing(table string) string {
	n.t.Helper()
	var text []byte
	err := n.host.Do(func() error {
		out, err := exec.CommandContext(n.t.Context(), n.nft, "-s", "list", "table", "inet", table).CombinedOutput()
		if err != nil && strings.Contains(string(out), "No such file or directory") {
			return nil
		}
		text = out
		return err
	})
	if err != nil {
		n.t.Fatalf("listing table inet %s: %v\n%s", table, err, text)
	}
	return string(text)
}

// wants is how this nft lists a table of that text, made and removed again.
func (n *node) wants(text string) string {
	n.t.Helper()
	load := n.host.Command(n.t.Context(), n.nft, "-f", "-")
	load.Stdin = strings.NewReader("add table inet homeward\ndelete table inet homeward\n" + text)
	if out, err := load.CombinedOutput(); err != nil {
		n.t.Fatalf("%v\n%s", err, out)
	}
	defer n.run("nft delete table inet homeward")
	return n.listing("homeward")
}

// eventually waits until the table is listed as want.
func (n *node) eventually(want string) {
	n.t.Helper()
	got := ""
	for end := time.Now().Add(repairWithin); time.Now().Before(end); time.Sleep(lookEvery) {
		if got = n.listing("homeward"); got == want {
			return
		}
	}
	n.t.Fatalf("after %s the table is\n%s\nwant\n%s\nthe script says\n%s", repairWithin, got, want, n.log)
}

// script is the pod's shell, running.
type script struct {
	t    *testing.T
	cmd  *netlab.Cmd
	log  *logBuffer
	done chan struct{}
}

// logBuffer is what the script says, readable while it runs.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start runs the pod's script as process 1 of its own process namespace, as a
// container does, with nothing in its PATH but the image's commands.
func (n *node) start(text string) *script {
	n.t.Helper()
	s := &script{t: n.t, log: &logBuffer{}, done: make(chan struct{})}
	s.cmd = n.host.Command(context.WithoutCancel(n.t.Context()), filepath.Join(n.bin, "dash"), "-c", text)
	s.cmd.Env = []string{"PATH=" + n.bin}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWPID
	n.log = s.log
	if err := s.cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait() // the exit code is read where it counts
	}()
	n.t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it may have ended
		<-s.done
	})
	return s
}

// stop ends the script as the kubelet does, and fails when the pod's grace is over.
func (s *script) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.done:
	case <-time.After(grace):
		s.t.Fatalf("still running %s after SIGTERM", grace)
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("exit code %d after SIGTERM\n%s", code, s.log)
	}
}

// says waits until the log has all of words.
func (s *script) says(words ...string) {
	s.t.Helper()
	end := time.Now().Add(repairWithin)
	for _, w := range words {
		for !strings.Contains(s.log.String(), w) {
			if time.Now().After(end) {
				s.t.Fatalf("the log lacks %q:\n%s", w, s.log)
			}
			time.Sleep(lookEvery)
		}
	}
}
