package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostExposed is systemd's measure of what the unit may do, times ten: 0 is nothing,
// 100 everything. What is left is the network, which is what it is for.
const mostExposed = "20"

// agent builds the real agent.
func agent(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "homeward-agent")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X main.version=v1.0.0", "-o", name, "./cmd/homeward-agent")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// placeholder is a file where the agent itself does not matter.
func placeholder(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "homeward-agent")
	if err := os.WriteFile(name, []byte("stands for the agent"), 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

func build(t *testing.T, agent, version string) string {
	t.Helper()
	arch, err := exec.Command("dpkg", "--print-architecture").Output()
	if err != nil {
		t.Fatal(err)
	}
	o := options{
		agent: agent, files: "../../cmd/homeward-agent/packaging", license: "../../LICENSE",
		arch: strings.TrimSpace(string(arch)), version: version, out: t.TempDir(),
	}
	name, err := o.build()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skipf("%v: the package is for Debian and is tried with its tools", err)
		}
	}
}

// system is a Debian of its own in a directory, with dpkg's records and a script's
// shell from outside.
type system struct {
	t    *testing.T
	root string
}

func newSystem(t *testing.T) *system {
	t.Helper()
	need(t, "dpkg", "dpkg-deb", "systemd-analyze")
	s := &system{t: t, root: t.TempDir()}
	for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "etc/default", "etc/systemd/system", "usr/bin", "usr/share/doc", "usr/lib/systemd/system"} {
		s.do(os.MkdirAll(filepath.Join(s.root, dir), 0o755))
	}
	for _, name := range []string{"status", "available"} {
		s.write("var/lib/dpkg/"+name, "")
	}
	// Other packages have files there, so that dpkg does not take the directories.
	for _, dir := range []string{"etc/default", "etc/systemd/system", "usr/bin", "usr/share/doc", "usr/lib/systemd/system"} {
		s.write(dir+"/others", "")
	}
	return s
}

func (s *system) do(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *system) write(name, text string) {
	s.t.Helper()
	s.do(os.WriteFile(filepath.Join(s.root, name), []byte(text), 0o644))
}

func (s *system) read(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.root, name))
	s.do(err)
	return string(text)
}

// dpkg runs dpkg on the directory. Who is not root becomes so in a namespace, for
// the files are root's.
func (s *system) dpkg(args ...string) {
	s.t.Helper()
	argv := append([]string{"dpkg", "--root=" + s.root, "--log=" + filepath.Join(s.root, "var/lib/dpkg/log"),
		"--force-not-root", "--force-script-chrootless", "--force-confold"}, args...)
	if os.Geteuid() != 0 {
		argv = append([]string{"unshare", "-r"}, argv...)
	}
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		s.t.Fatalf("dpkg %v: %v\n%s", args, err, out)
	}
}

// files are all paths, but for dpkg's own records.
func (s *system) files() (out []string) {
	s.t.Helper()
	s.do(filepath.WalkDir(s.root, func(name string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(s.root, name); err == nil && !strings.HasPrefix(rel, "var/lib/dpkg") {
			out = append(out, rel)
		}
		return err
	}))
	return out
}

func TestInstallUpgradePurge(t *testing.T) {
	s := newSystem(t)
	program := agent(t)
	before := s.files()

	s.dpkg("--install", build(t, program, "v1.0.0"))
	for _, name := range []string{"usr/bin/homeward-agent", "usr/lib/systemd/system/homeward-host.service", "etc/default/homeward-host", "usr/share/doc/homeward-host/copyright", "etc/homeward"} {
		if !slices.Contains(s.files(), name) {
			t.Errorf("%s is not installed", name)
		}
	}
	if out, err := exec.Command(filepath.Join(s.root, "usr/bin/homeward-agent"), "version").CombinedOutput(); err != nil || string(out) != "v1.0.0\n" {
		t.Errorf("the installed agent: %v\n%s", err, out)
	}

	const edited = "HOMEWARD_HOST_FLAGS=\"--interface=ext0 --addresses=203.0.113.75\"\n"
	s.write("etc/default/homeward-host", edited)
	s.dpkg("--install", build(t, program, "v1.0.0-3-gabc1234"))
	if s.read("etc/default/homeward-host") != edited {
		t.Error("an upgrade overwrote what the operator had set")
	}
	if !strings.Contains(s.read("var/lib/dpkg/status"), "Version: 1.0.0+3.gabc1234") {
		t.Error("it was not upgraded")
	}

	dropIn := filepath.Join(s.root, "etc/systemd/system/homeward-host.service.d")
	s.do(os.MkdirAll(dropIn, 0o755))
	s.do(os.Symlink("/usr/share/homeward-host/net-admin.conf", filepath.Join(dropIn, "net-admin.conf")))
	s.dpkg("--remove", packageName)
	if s.read("etc/default/homeward-host") != edited {
		t.Error("removing took what the operator had set: that is for purge")
	}
	s.dpkg("--purge", packageName)
	if after := s.files(); !slices.Equal(before, after) {
		t.Errorf("left behind:\n%s\nbefore:\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
}

func TestPurgeKeepsThePlan(t *testing.T) {
	s := newSystem(t)
	s.dpkg("--install", build(t, placeholder(t), "v1.0.0"))
	s.write("etc/homeward/plan.json", "{}")
	s.dpkg("--purge", packageName)
	if s.read("etc/homeward/plan.json") != "{}" {
		t.Error("the operator's plan is gone")
	}
}

func TestScriptsPassShellcheck(t *testing.T) {
	need(t, "shellcheck")
	scripts, err := filepath.Glob("../../cmd/homeward-agent/packaging/*.sh")
	if err != nil || len(scripts) != 3 {
		t.Fatalf("scripts %q, error %v", scripts, err)
	}
	if out, err := exec.Command("shellcheck", scripts...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestUnitIsHardened holds systemd's own judgement of the unit, as installed.
func TestUnitIsHardened(t *testing.T) {
	s := newSystem(t)
	s.dpkg("--install", build(t, placeholder(t), "v1.0.0"))
	for _, name := range []string{"as installed", "with CAP_NET_ADMIN"} {
		t.Run(name, func(t *testing.T) {
			if name != "as installed" {
				s.do(os.MkdirAll(filepath.Join(s.root, "etc/systemd/system/homeward-host.service.d"), 0o755))
				s.write("etc/systemd/system/homeward-host.service.d/net-admin.conf", s.read("usr/share/homeward-host/net-admin.conf"))
			}
			out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--no-pager", "--root="+s.root,
				"--threshold="+mostExposed, "homeward-host.service").CombinedOutput()
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			t.Log(lines[len(lines)-1])
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestSameInputSameBytes(t *testing.T) {
	need(t, "dpkg")
	program := placeholder(t)
	var packages [2][]byte
	for i := range packages {
		text, err := os.ReadFile(build(t, program, "v1.0.0"))
		if err != nil {
			t.Fatal(err)
		}
		packages[i] = text
	}
	if !bytes.Equal(packages[0], packages[1]) {
		t.Error("two packages of the same files differ")
	}
}
