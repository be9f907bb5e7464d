package outdir_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/cmd/homeward/internal/outdir"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}

// grown is tree under another plan: one machine more, one less, one changed, a
// secret changed, the rest the same but for the hash.
func grown() outdir.Tree {
	next := tree()
	next.PlanHash = hashB
	next.Files[0].Content = []byte("machine: {pods: []}\n")
	next.Files[1] = outdir.File{Path: "talos/edge-worker-03.yaml", Content: []byte("machine: {}")}
	next.Files[5].Content = []byte("token: hunter3\n")
	return next
}

func TestDiff(t *testing.T) {
	dir := t.TempDir()
	write(t, tree(), dir)
	before := list(t, dir)

	var text bytes.Buffer
	report, err := grown().Diff(&text, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "grown.diff", text.Bytes())
	if strings.Contains(text.String(), "hunter") {
		t.Error("the difference shows a secret")
	}
	if diff := cmp.Diff(before, list(t, dir)); diff != "" {
		t.Errorf("the diff wrote (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(write(t, grown(), dir), report); diff != "" {
		t.Errorf("the diff's report is not the write's (-write +diff):\n%s", diff)
	}

	t.Run("nothing left to do", func(t *testing.T) {
		var text bytes.Buffer
		report, err := grown().Diff(&text, dir, false)
		if err != nil || report.Changed() || text.Len() != 0 {
			t.Errorf("report %+v, error %v, text %q", report, err, text.String())
		}
	})
}

func TestDiffIsAPatch(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("patch is not installed")
	}
	tr, next := tree(), grown()
	tr.Files, next.Files = tr.Files[:2], next.Files[:2]
	dir, want := t.TempDir(), t.TempDir()
	write(t, tr, dir)
	write(t, next, want)
	var text bytes.Buffer
	if _, err := next.Diff(&text, dir, false); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(patch, "-p1", "-E", "-s", "-d", dir)
	cmd.Stdin = &text
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if diff := cmp.Diff(list(t, want), list(t, dir)); diff != "" {
		t.Errorf("patched tree (-want +got):\n%s", diff)
	}
}

func TestDiffOfNothingThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	var text bytes.Buffer
	report, err := tree().Diff(&text, dir, false)
	if err != nil || len(report.Written) != 6 {
		t.Fatalf("report %+v, error %v", report, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the diff made the directory: %v", err)
	}
	if !strings.Contains(text.String(), "--- /dev/null\n+++ b/README.md\n") || strings.Contains(text.String(), "hunter") {
		t.Errorf("text:\n%s", &text)
	}
}

func TestSecretsStayHidden(t *testing.T) {
	open := tree()
	open.Files[5].Secret = false
	gone := tree()
	gone.Files = gone.Files[:5]
	for name, next := range map[string]outdir.Tree{"no longer secret": open, "removed": gone} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, tree(), dir)
			var text bytes.Buffer
			report, err := next.Diff(&text, dir, false)
			if err != nil || !report.Changed() {
				t.Fatalf("report %+v, error %v", report, err)
			}
			if !strings.HasPrefix(text.String(), "Secret files a/complete/edge-worker-01.yaml and ") || strings.Contains(text.String(), "hunter") {
				t.Errorf("text:\n%s", &text)
			}
		})
	}
	t.Run("foreign and private", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, "README.md", "password: hunter1\n")
		if err := os.Chmod(filepath.Join(dir, "README.md"), 0o600); err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := tree().Diff(&text, dir, true); err != nil || strings.Contains(text.String(), "hunter") {
			t.Errorf("error %v, text:\n%s", err, &text)
		}
	})
}

func TestDiffTellsAModeAlone(t *testing.T) {
	dir := t.TempDir()
	write(t, tree(), dir)
	if err := os.Chmod(filepath.Join(dir, "proxmox/nics.sh"), 0o644); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	report, err := tree().Diff(&text, dir, false)
	if err != nil || len(report.Written) != 1 {
		t.Fatalf("report %+v, error %v", report, err)
	}
	if got := text.String(); got != "Mode of proxmox/nics.sh differs: 0644, wanted 0755\n" {
		t.Errorf("text %q", got)
	}
}

// fullPipe fails like a full disk behind standard output.
type fullPipe struct{}

func (fullPipe) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestDiffReportsAFailedWriter(t *testing.T) {
	if _, err := tree().Diff(fullPipe{}, t.TempDir(), false); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v", err)
	}
}
