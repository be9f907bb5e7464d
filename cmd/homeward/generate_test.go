package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
)

// snapshot reads a whole tree.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestGenerateTree(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	got := homeward(t, "generate", "-f", planFile(t), "--out", out)
	if got.code != 0 || got.out != "" {
		t.Fatalf("exit %d, stdout %q, stderr %q", got.code, got.out, got.err)
	}
	files := snapshot(t, out)
	for _, name := range []string{
		"talos/edge-controlplane-01.yaml", "talos/edge-worker-03.yaml", "kubernetes/metallb.yaml", "kubernetes/traefik.yaml",
		"kubernetes/cleanup-pod.yaml", "argocd/values.yaml", "proxmox/nics.sh", "proxmox/network.tfvars.json", "plan.json", "README.md",
	} {
		if files[name] == "" {
			t.Errorf("no %s", name)
		}
		if !strings.Contains(files[name], "homeward, format 1, plan sha256:") {
			t.Errorf("%s does not say whose it is", name)
		}
	}
	if len(files) != 14 {
		t.Errorf("%d files, want 14: %v", len(files), files)
	}
}

func TestGenerateTwiceWritesNothing(t *testing.T) {
	file, out := planFile(t), filepath.Join(t.TempDir(), "out")
	homeward(t, "generate", "-f", file, "--out", out)
	if got := homeward(t, "generate", "-f", file, "--out", out); got.code != 0 || !strings.Contains(got.err, "0 files written, 14 unchanged, 0 removed") {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	if got := homeward(t, "generate", "-f", file, "--out", out, "--diff"); got.code != 0 || got.out != "" {
		t.Errorf("exit %d, diff %q", got.code, got.out)
	}
}

func TestGenerateDiffShowsAndWritesNothing(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	homeward(t, "generate", "-f", planFile(t), "--out", out)
	before := snapshot(t, out)
	smaller := planFile(t, "203.0.113.75-203.0.113.78", "203.0.113.75-203.0.113.77", "worker: {count: 3}", "worker: {count: 2}")
	got := homeward(t, "generate", "-f", smaller, "--out", out, "--diff")
	if got.code != 5 || !strings.Contains(got.out, "-    - 203.0.113.75-203.0.113.78\n+    - 203.0.113.75-203.0.113.77") {
		t.Errorf("exit %d, diff:\n%s", got.code, got.out)
	}
	for name, text := range snapshot(t, out) {
		if before[name] != text {
			t.Errorf("--diff wrote %s", name)
		}
	}
	if got := homeward(t, "generate", "-f", smaller, "--out", out); got.code != 0 || !strings.Contains(got.err, "removed "+filepath.Join(out, "talos/edge-worker-03.yaml")) {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

func TestGenerateLeavesForeignFiles(t *testing.T) {
	file, out := planFile(t), filepath.Join(t.TempDir(), "out")
	mine := filepath.Join(out, "kubernetes", "metallb.yaml")
	if err := os.MkdirAll(filepath.Dir(mine), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, []byte("mine: true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := homeward(t, "generate", "-f", file, "--out", out)
	if got.code != 1 || !strings.Contains(got.err, "kubernetes/metallb.yaml") || len(snapshot(t, out)) != 1 {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	if got := homeward(t, "generate", "-f", file, "--out", out, "--force"); got.code != 0 {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

func TestGenerateWarnsWhoMoves(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	homeward(t, "generate", "-f", planFile(t), "--out", out)
	moved := planFile(t, "workers:", "machines: {edge-worker-01: {anchor: 169.254.33.9}}\nworkers:")
	got := homeward(t, "generate", "-f", moved, "--out", out, "--diff")
	if !strings.Contains(got.err, "edge-worker-01 (169.254.36.6 to 169.254.33.9)") {
		t.Errorf("stderr %q", got.err)
	}
	pins := homeward(t, "plan", "-f", moved, "--against", filepath.Join(out, "plan.json"), "--pin-anchors")
	if pins.code != 0 || pins.out != "machines:\n  edge-worker-01: {anchor: 169.254.36.6}\n" {
		t.Errorf("exit %d, %q, %q", pins.code, pins.out, pins.err)
	}
	changes := homeward(t, "plan", "-f", moved, "--against", filepath.Join(out, "plan.json"))
	if !strings.Contains(changes.out, "edge-worker-01: anchor: 169.254.36.6 -> 169.254.33.9") {
		t.Errorf("table:\n%s", changes.out)
	}
	same := homeward(t, "plan", "-f", planFile(t), "--against", filepath.Join(out, "plan.json"), "-o", "json")
	if same.code != 0 || !strings.Contains(same.out, `"changes": []`) {
		t.Errorf("exit %d, %s", same.code, same.out)
	}
}

// writeBases makes what talosctl gen config makes.
func writeBases(t *testing.T) (controlPlane, worker string) {
	t.Helper()
	contract, err := config.ParseContractFromVersion("v1.13.9")
	if err != nil {
		t.Fatal(err)
	}
	in, err := generate.NewInput("edge", "https://203.0.113.79:6443", "1.36.3", generate.WithVersionContract(contract))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(role machine.Type) string {
		cfg, err := in.Config(role)
		if err != nil {
			t.Fatal(err)
		}
		text, err := cfg.EncodeBytes(encoder.WithComments(encoder.CommentsAll))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, role.String()+".yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write(machine.TypeControlPlane), write(machine.TypeWorker)
}

func TestGenerateWithBases(t *testing.T) {
	file, out := planFile(t), filepath.Join(t.TempDir(), "out")
	controlPlane, worker := writeBases(t)
	got := homeward(t, "generate", "-f", file, "--out", out, "--base", controlPlane+","+worker)
	if got.code != 0 {
		t.Fatalf("exit %d: %s", got.code, got.err)
	}
	first := snapshot(t, out)
	if !strings.HasSuffix(first["machines/.gitignore"], "\n*\n") {
		t.Errorf("git would take the secrets: %q", first["machines/.gitignore"])
	}
	for _, name := range []string{"machines/edge-controlplane-01.yaml", "machines/edge-worker-01.yaml"} {
		cfg, err := configloader.NewFromBytes([]byte(first[name]))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if cfg.Machine() == nil || cfg.Machine().Security().IssuingCA() == nil && cfg.Machine().Security().Token() == "" {
			t.Errorf("%s has lost the base's secrets", name)
		}
		info, err := os.Stat(filepath.Join(out, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v: others may read the secrets", name, info.Mode(), err)
		}
	}
	// The complete configs as bases give the same bytes again.
	again := homeward(t, "generate", "-f", file, "--out", out, "--base",
		filepath.Join(out, "machines/edge-controlplane-01.yaml")+","+filepath.Join(out, "machines/edge-worker-01.yaml"))
	if again.code != 0 || !strings.Contains(again.err, " 0 files written") {
		t.Errorf("exit %d: %s", again.code, again.err)
	}
	// Without bases the complete configs stay, and are said to be of another plan;
	// that of a machine that left goes.
	fewer := planFile(t, "worker: {count: 3}", "worker: {count: 2}")
	without := homeward(t, "generate", "-f", fewer, "--out", out)
	left := snapshot(t, out)
	if without.code != 0 || !strings.Contains(without.err, "5 complete configs in") || left["machines/edge-worker-03.yaml"] != "" || left["machines/edge-worker-02.yaml"] == "" {
		t.Errorf("exit %d: %s", without.code, without.err)
	}
	homeward(t, "generate", "-f", file, "--out", out, "--base", controlPlane+","+worker)
	// Secrets stay out of a diff.
	secret := between(first["machines/edge-worker-01.yaml"], "token: ", "\n")
	changed := planFile(t, "203.0.113.75-203.0.113.78", "203.0.113.75-203.0.113.77")
	diff := homeward(t, "generate", "-f", changed, "--out", out, "--diff", "--base", controlPlane+","+worker)
	if diff.code != 5 || len(secret) < 8 || strings.Contains(diff.out+diff.err, secret) {
		t.Errorf("exit %d, the diff shows the token %q", diff.code, secret)
	}
}

func between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	found, _, _ := strings.Cut(rest, to)
	return strings.TrimSpace(found)
}

func TestGenerateRefusesWrongBases(t *testing.T) {
	file := planFile(t)
	controlPlane, worker := writeBases(t)
	other := filepath.Join(t.TempDir(), "talosconfig")
	if err := os.WriteFile(other, []byte("context: edge\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, bases := range map[string]string{
		"no config for a worker": controlPlane,
		"are both for a worker":  worker + "," + worker,
		"no machine.type":        controlPlane + "," + other,
		"no such file":           controlPlane + "," + other + ".none",
	} {
		out := filepath.Join(t.TempDir(), "out")
		got := homeward(t, "generate", "-f", file, "--out", out, "--base", bases)
		if got.code != 2 || !strings.Contains(got.err, name) {
			t.Errorf("%s: exit %d: %s", name, got.code, got.err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: something was written", name)
		}
	}
}
