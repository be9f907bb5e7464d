//go:build linux

package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"

	"homeward/testenv/openstack"
)

// The exit codes of homeward.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitTaken      = 3
	exitUnknown    = 4
	exitDifference = 5
)

// From an empty project to the values of the load-balancing page and back, by the tool
// alone.
func TestFromReserveToReleased(t *testing.T) {
	s := newSite(t)
	before := s.has()

	got := s.wants(exitDone, "reserve", "--dry-run")
	if !strings.Contains(got, "create network edge\n") || !strings.Contains(got, "nothing was changed") || !cmp.Equal(before, s.has()) {
		t.Fatalf("a dry run says\n%s", got)
	}
	if s.exists("homeward.id") {
		t.Error("a dry run made the owner's id")
	}
	s.wants(exitUnknown, "generate")
	s.wants(exitUsage, "generate", "--live")
	s.wants(exitDifference, "status")

	s.wants(exitDone, "reserve")
	a := s.allocation()
	if a.Ingress.Fixed != "192.0.2.10" || a.Ingress.Floating != chosenFloating || a.KubeAPI.Fixed == "" || a.KubeAPI.Floating == "" {
		t.Fatalf("allocated %+v", a)
	}
	s.wants(exitDone, "generate")
	s.page()
	s.live()

	again := s.report(exitDone, "reserve")
	if again.Outcome != "reserved" || again.Made+again.Changed+again.Removed != 0 || again.Ingress != a.Ingress || len(again.Objects) != 4+4+2 {
		t.Errorf("the second reserve says %+v", again)
	}
	if r := s.report(exitDone, "status"); r.Outcome != "as-planned" {
		t.Errorf("status says %+v", r)
	}

	if result, seen := s.verified(); result != "pass" || seen != "10 objects of edge" {
		t.Errorf("verify finds the reservation %s: %s", result, seen)
	}

	s.drifts()
	s.wants(exitDone, "release", "--dry-run")
	s.wants(exitDone, "release")
	if diff := cmp.Diff(before, s.has()); diff != "" {
		t.Errorf("after the release (-before +after):\n%s", diff)
	}
	if s.exists("out", "allocation.json") {
		t.Error("allocation.json is still there")
	}
	s.wants(exitUnknown, "generate", "--live")
	s.wants(exitDone, "release")
}

// page compares what is generated with the load-balancing page, byte by byte behind our
// own beginning: a comment, and the namespace. Of traefik.yaml it is the pinned address.
// What stands in Neutron is read by others than the code under test.
func (s *site) page() {
	s.t.Helper()
	for _, c := range []struct{ page, got string }{
		{"openstack.values.yaml", s.behind("\n", "out", "argocd", "values.yaml")},
		{"openstack.metallb.yaml", s.behind("---\n", "out", "kubernetes", "metallb.yaml")},
	} {
		want, err := os.ReadFile(filepath.Join("..", "..", "..", "talosgen", "gitops", "testdata", "page", c.page))
		if err != nil {
			s.t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), c.got); diff != "" {
			s.t.Errorf("%s (-page +got):\n%s", c.page, diff)
		}
	}
	if got := s.read("out", "kubernetes", "traefik.yaml"); !strings.Contains(got, "\n  loadBalancerIP: 192.0.2.10\n") {
		s.t.Errorf("Traefik's Service is not pinned as on the page:\n%s", got)
	}
	h, err := s.cloud.Holdings(s.t.Context(), s.project.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, want := range []string{"port edge-kubeapi ", "port edge-ingress 192.0.2.10 ", "floatingip " + chosenFloating + " "} {
		if !strings.Contains(h.String(), want) {
			s.t.Errorf("Neutron has no %q:\n%s", want, h)
		}
	}
}

// behind gives what follows the first sep in a generated file.
func (s *site) behind(sep string, path ...string) string {
	s.t.Helper()
	_, body, _ := strings.Cut(s.read(path...), sep)
	return body
}

// live generates in a directory that has only what version control keeps.
func (s *site) live() {
	s.t.Helper()
	s.wants(exitUnknown, "generate", "--out", "fresh")
	s.wants(exitDifference, "generate", "--out", "fresh", "--live", "--diff")
	if s.exists("fresh", "allocation.json") {
		s.t.Error("--diff keeps what it asked for")
	}
	s.wants(exitDone, "generate", "--out", "fresh", "--live")
	for _, file := range [][]string{{"allocation.json"}, {"argocd", "values.yaml"}, {"talos", "edge-worker-01.yaml"}, {"kubernetes", "traefik.yaml"}} {
		if got, want := s.read(append([]string{"fresh"}, file...)...), s.read(append([]string{"out"}, file...)...); got != want {
			s.t.Errorf("%s differs from that of reserve and generate:\n%s\n%s", file, got, want)
		}
	}
}

// drifts changes the plan, the file and the owner, and looks what status says.
func (s *site) drifts() {
	s.t.Helper()
	s.plan(2)
	if got := s.wants(exitDifference, "status"); !strings.Contains(got, "create port edge-worker-02") {
		s.t.Errorf("a machine more: %s", got)
	}
	if result, seen := s.verified(); result != "fail" || !strings.Contains(seen, "create port edge-worker-02") {
		s.t.Errorf("verify finds a machine more %s: %s", result, seen)
	}
	s.plan(1)
	s.wants(exitDone, "status")
	if err := os.Remove(filepath.Join(s.dir, "out", "allocation.json")); err != nil {
		s.t.Fatal(err)
	}
	if got := s.wants(exitDifference, "status"); !strings.Contains(got, "does not have these addresses") {
		s.t.Errorf("without the file: %s", got)
	}
	s.addressLost()
	mine := s.read("homeward.id")
	s.write("homeward.id", "fedcba9876543210\n")
	if got := s.wants(exitTaken, "reserve"); !strings.Contains(got, "same name with another id") {
		s.t.Errorf("as another owner: %s", got)
	}
	s.wants(exitTaken, "status")
	s.write("homeward.id", mine)
}

// addressLost deletes the API's floating IP, as somebody who cleans up does: another is
// made, and it is said that clients find another address.
func (s *site) addressLost() {
	s.t.Helper()
	s.wants(exitDone, "reserve")
	client, err := s.project.Client(s.t.Context(), s.cloud.Identity())
	if err != nil {
		s.t.Fatal(err)
	}
	before := s.allocation().KubeAPI.Floating
	page, err := floatingips.List(client, floatingips.ListOpts{FloatingIP: before}).AllPages(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	list, err := floatingips.ExtractFloatingIPs(page)
	if err != nil || len(list) != 1 {
		s.t.Fatalf("%d are %s: %v", len(list), before, err)
	}
	if err := floatingips.Delete(s.t.Context(), client, list[0].ID).ExtractErr(); err != nil {
		s.t.Fatal(err)
	}
	code, _, text := s.run(nil, "reserve")
	if now := s.allocation().KubeAPI.Floating; code != exitDone || now == before || !strings.Contains(text, "the API's floating IP is "+now+", and was "+before) || strings.Contains(text, "ingress's") {
		s.t.Errorf("exit %d, %s instead of %s: %s", code, now, before, text)
	}
	if _, _, text := s.run(nil, "reserve"); strings.Contains(text, "and was") {
		s.t.Errorf("it is said again: %s", text)
	}
}

// addresses are one reserved port's, as homeward's JSON has them.
type addresses struct{ Fixed, Floating string }

// report is the part of -o json that is looked at.
type report struct {
	Outcome                string
	Made, Changed, Removed int
	KubeAPI, Ingress       addresses
	Objects                []struct{ Kind, Name, ID string }
}

func (s *site) report(code int, args ...string) report {
	s.t.Helper()
	var r report
	if err := json.Unmarshal([]byte(s.wants(code, append(args, "-o", "json")...)), &r); err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *site) allocation() (r report) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.read("out", "allocation.json")), &r); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// site is a directory with a plan, a project of its own and the built tool.
type site struct {
	t       *testing.T
	cloud   *openstack.Cloud
	project *openstack.Project
	bin     string
	dir     string
	url     string // Keystone's
}

// wants runs the tool, looks at its exit code and that it shows no secret, and gives
// its standard output.
func (s *site) wants(code int, args ...string) string {
	s.t.Helper()
	got, stdout, stderr := s.run(nil, args...)
	if got != code {
		s.t.Fatalf("%q: exit %d, want %d\n%s\n%s", args, got, code, stdout, stderr)
	}
	return stdout
}

// run runs the tool in the directory, looks that it shows no secret, and gives the exit
// code, -1 for a signal, with both outputs. What comes over stop is sent to it.
func (s *site) run(stop <-chan syscall.Signal, args ...string) (code int, out, text string) {
	cmd := exec.CommandContext(s.t.Context(), s.bin, args...)
	cmd.Dir = s.dir
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "OS_") && !strings.HasPrefix(pair, "HOMEWARD_") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		s.t.Error(err)
		return -1, "", ""
	}
	end := signalled(cmd.Process, stop)
	err := cmd.Wait()
	end()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Error(err)
	}
	if strings.Contains(stdout.String()+stderr.String(), s.project.Credential.Secret) {
		s.t.Errorf("%q shows the secret", args)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

func (s *site) has() map[openstack.Resource]int {
	s.t.Helper()
	h, err := s.cloud.Holdings(s.t.Context(), s.project.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return h.Count()
}

func (s *site) exists(path ...string) bool {
	_, err := os.Stat(filepath.Join(append([]string{s.dir}, path...)...))
	return err == nil
}

func (s *site) read(path ...string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{s.dir}, path...)...))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s *site) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// plan writes a cluster.yaml with the addresses of the load-balancing page.
func (s *site) plan(workers int) {
	s.t.Helper()
	s.write("cluster.yaml", fmt.Sprintf(`name: edge
talos: {version: v1.13.9}
kubernetes: {version: v1.36.3}
controlplane: {count: 1}
workers:
  worker: {count: %d}
network:
  cidr: 192.0.2.0/24
  dns: [198.51.100.53]
openstack:
  url: %s
  external_net: %s
  region: %s
  ingress_address: 192.0.2.10
  ingress_floating_ip: %s
security:
  kubernetes: {office: 198.51.100.0/24}
  talos: {office: 198.51.100.0/24}
`, workers, s.url, openstack.ExternalNet, openstack.Region, chosenFloating))
}
