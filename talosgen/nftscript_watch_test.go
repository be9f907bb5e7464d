package talosgen_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// wrap puts a line of shell in front of a command of the image.
func (n *node) wrap(name, line string) {
	n.t.Helper()
	target, err := exec.LookPath(name)
	if err != nil {
		n.t.Fatal(err)
	}
	file := filepath.Join(n.bin, name)
	if err := os.Remove(file); err != nil {
		n.t.Fatal(err)
	}
	text := "#!" + filepath.Join(n.bin, "dash") + "\n" + line + "\nexec " + target + ` "$@"` + "\n"
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		n.t.Fatal(err)
	}
}

// recordPauses gives a function that lists how long the script slept so far.
func (n *node) recordPauses() (pauses func() []string) {
	n.t.Helper()
	file := filepath.Join(n.t.TempDir(), "pauses")
	n.wrap("sleep", `echo "$1" >>`+file)
	return func() []string {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // before the first pause
			n.t.Fatal(err)
		}
		return strings.Fields(string(text))
	}
}

// monitor records nftables events from now until the function it returns is
// called, which gives them as lines.
func (n *node) monitor() (events func() []string) {
	n.t.Helper()
	out := &logBuffer{}
	cmd := n.host.Command(context.WithoutCancel(n.t.Context()), n.nft, "monitor")
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	// It listens when it reports a table that comes and goes.
	for end := time.Now().Add(repairWithin); !strings.Contains(out.String(), "listening"); {
		if time.Now().After(end) {
			n.t.Fatal("nft monitor reports nothing")
		}
		n.run("nft 'add table inet listening; delete table inet listening'")
		time.Sleep(100 * time.Millisecond)
	}
	return func() []string {
		time.Sleep(500 * time.Millisecond)
		_ = cmd.Process.Kill() // it ends by nothing else
		_ = cmd.Wait()
		return strings.Split(out.String(), "\n")
	}
}

// checkOneTransaction fails unless our table was deleted and added again between
// two of the lines that end a transaction, and only once.
func checkOneTransaction(t *testing.T, events []string) {
	t.Helper()
	deleted, replaced := false, 0
	for _, line := range events {
		switch {
		case strings.HasPrefix(line, "# new generation") && deleted:
			t.Errorf("a transaction ended with the table deleted:\n%s", strings.Join(events, "\n"))
			return
		case line == "delete table inet homeward":
			deleted = true
		case line == "add table inet homeward" && deleted:
			deleted = false
			replaced++
		}
	}
	if replaced != 1 {
		t.Errorf("replaced %d times, want 1:\n%s", replaced, strings.Join(events, "\n"))
	}
}
