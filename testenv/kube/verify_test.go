//go:build linux

package kube

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"homeward/testenv/kube/parts"
	"homeward/testenv/netlab"
)

// Verify runs `homeward verify` against a complete lab with the agent's pod installed,
// from the client behind the router: everything is as planned, each fault that is
// planted is found, and in the end everything is as before.
func Verify(t *testing.T, l *Lab) {
	s := newVerifySite(t, l, l.Net.Behind)
	image, err := l.Kubectl(t.Context(), nil, "-n", "kube-system", "get", "pod", returnPathName+"-"+l.Machines[0].Name,
		"-o", "jsonpath={.status.containerStatuses[0].imageID}")
	s.must(err)
	s.must(l.Control().HoldVIP())
	defer func() { s.must(l.Control().ReleaseVIP()) }()
	s.standIns(string(image))
	defer s.removeStandIns()
	s.healthy("a complete lab")
	s.find(onePerCheck(s.faults(string(image))))
	s.account()
	s.fromElsewhere()
	s.find(realFaults(l))
	s.healthy("all mended")
}

// faults are those that are objects, or the VIP's.
func (s *verifySite) faults(image string) []fault {
	return slices.Concat(metallbFaults(), nodeFaults(s.lab, image), serviceFaults(s.lab), forwardFaults(), apiFaults(s.lab))
}

// onePerCheck keeps the first fault of each check: all of them are planted where there
// are no nodes.
func onePerCheck(all []fault) []fault {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(f fault) bool {
		again := seen[f.id]
		seen[f.id] = true
		return again
	})
}

// realFaults are those of programs that only a complete lab has.
func realFaults(l *Lab) []fault {
	m := l.Machines[0]
	install := func(s *verifySite) { s.must(l.InstallReturnPath(s.Context(), AgentPod)) }
	manifest := func(old, now string) func(*verifySite) {
		return func(s *verifySite) {
			text, err := m.returnPathPod(AgentPod)
			s.must(err)
			if !strings.Contains(string(text), old) {
				s.Fatalf("the pod has no %q", old)
			}
			s.must(m.WriteManifest(returnPathName, []byte(strings.ReplaceAll(string(text), old, now))))
		}
	}
	return []fault{
		planted("a static pod of an older pool", "return-path-spec", "fail", manifest("203.0.113.74-203.0.113.79", "203.0.113.74-203.0.113.78"), install),
		planted("a static pod for a NIC that is not there", "return-path-ready", "fail", manifest("02:00:00:00:0e:01", "02:00:00:00:0e:77"), install).saying("its readiness probe fails"),
		planted("a machine without the static pod", "return-path-ready", "fail", func(s *verifySite) { s.must(m.RemoveManifest(returnPathName)) }, install),
		planted("replies that leave by the private NIC", "service-handshake", "fail", func(s *verifySite) { s.must(l.RemoveReturnPath(s.Context())) }, install),
		planted("a speaker that is gone", "metallb-speakers", "fail",
			func(s *verifySite) { s.kubectl("-n", metallbNamespace, "delete", "pod", standInSpeaker(m.Name)) },
			func(s *verifySite) { s.apply(fmt.Sprintf(standInPodText, standInSpeaker(m.Name), m.Name)) }),
	}
}

// account takes the service account that --rbac prints, made with the commands of its
// head: all checks can be made with it, nothing can be written, and without its rights
// what cannot be read is unknown.
func (s *verifySite) account() {
	s.Helper()
	manifest, code := s.run("verify", "--rbac")
	if code != 0 {
		s.Fatalf("--rbac gave %d", code)
	}
	s.apply(string(manifest))
	defer func() {
		_, err := s.lab.Kubectl(s.Context(), manifest, "delete", "-f", "-")
		s.must(err)
	}()
	config := s.makeKubeconfig(string(manifest))
	v, code := s.verify(config)
	if text := v.others(noProxmox); text != "" || code != 0 {
		s.Errorf("with the account: exit code %d\n%s", code, text)
	}
	for _, try := range [][]string{
		{"delete", "node", s.lab.Machines[0].Name}, {"create", "namespace", "x"}, {"get", "secrets", "-A"},
		{"-n", "kube-system", "get", "configmaps"}, {"-n", "kube-system", "get", "configmap", "extension-apiserver-authentication"},
		{"-n", "default", "get", "pods"}, {"-n", metallbNamespace, "delete", "ipaddresspool", "ingress"},
		{"-n", metallbNamespace, "patch", "l2advertisement", "ingress", "--type=merge", "-p", "{}"},
	} {
		cmd := s.from.Command(s.Context(), s.lab.set.Program("kubectl"), append([]string{"--kubeconfig", config, "--cache-dir", s.dir}, try...)...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "orbidden") {
			s.Errorf("the account may %v: %v\n%s", try, err, out)
		}
	}
	for _, without := range []struct{ namespace, kind, id string }{
		{metallbNamespace, "rolebinding", "metallb-speakers"}, {"kube-system", "rolebinding", "return-path-ready"}, {"default", "clusterrolebinding", "nodes-planned"},
	} {
		s.kubectl("-n", without.namespace, "delete", without.kind, "homeward-verify")
		v, code := s.verify(config)
		if result, seen := v.of(without.id); result != "unknown" || code != 4 || !strings.Contains(seen, "may not read") {
			s.Errorf("without the %s in %s: %s is %s (%s), exit code %d", without.kind, without.namespace, without.id, result, seen, code)
		}
		s.apply(string(manifest))
	}
}

// makeKubeconfig runs the commands of the manifest's head, as an operator does.
func (s *verifySite) makeKubeconfig(manifest string) string {
	s.Helper()
	var script []string
	for line := range strings.Lines(manifest) {
		if command, ok := strings.CutPrefix(line, "#   "); ok && !strings.HasPrefix(command, "homeward") {
			script = append(script, strings.TrimSpace(command))
		}
	}
	if len(script) < 5 {
		s.Fatalf("the manifest's head has no commands:\n%s", manifest)
	}
	cmd := s.from.Command(s.Context(), "sh", "-ec", strings.Join(script, "\n"))
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig, "KUBECACHEDIR="+s.dir,
		"PATH="+filepath.Dir(s.lab.set.Program("kubectl"))+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("making the account's kubeconfig: %v\n%s", err, out)
	}
	file := filepath.Join(s.dir, "verify.kubeconfig")
	// The relay has another name than the API server.
	s.must(exec.CommandContext(s.Context(), s.lab.set.Program("kubectl"), "config", "--kubeconfig", file, "set-cluster", "verify",
		"--tls-server-name", s.lab.Control().Address.String()).Run())
	return file
}

// fromElsewhere looks from the services' own segment, where answers prove nothing, and
// without any API server.
func (s *verifySite) fromElsewhere() {
	s.Helper()
	near := newVerifySite(s.T, s.lab, s.lab.Net.OnLink)
	v, code := near.verify(near.kubeconfig)
	if result, seen := v.of("service-handshake"); result != "warn" || code != 0 || !strings.Contains(seen, "own segment") {
		s.Errorf("on-link: the handshake is %s (%s), exit code %d", result, seen, code)
	}
	if result, seen := v.of("api-address"); result != "warn" || !strings.Contains(seen, "own segment") {
		s.Errorf("on-link: the API's address is %s (%s)", result, seen)
	}
	nobody := filepath.Join(s.dir, "nobody")
	s.must(s.lab.pki.writeKubeconfig(nobody, "https://127.0.0.1:1"))
	v, code = s.verify(nobody)
	if result, _ := v.of("nodes-planned"); result != "unknown" || code != 4 {
		s.Errorf("without an API server: nodes-planned is %s, exit code %d", result, code)
	}
	for _, c := range v.Checks {
		if c.Result == "pass" && c.ID != "api-address" && c.ID != "generated-files" {
			s.Errorf("without an API server %s passes: %v", c.ID, c.Seen)
		}
	}
}

// TestVerifyWithoutNodes plants every fault that is an object in a cluster of real API
// servers and MetalLB's real controller. There is no kubelet: nodes, pods and what
// answers at the services' addresses are stood in for.
func TestVerifyWithoutNodes(t *testing.T) {
	if !Wanted() {
		t.Skipf("real Kubernetes needs root and a long build: `make e2e` runs it (%s=1)", WantedVariable)
	}
	l := newNodelessLab(t)
	s := newVerifySite(t, l, l.Net.Behind)
	const image = "lab.invalid/homeward-agent@sha256:0000000000000000000000000000000000000000000000000000000000000000"
	s.must(l.Control().HoldVIP())
	s.standInMachines(image)
	s.standIns(image)
	for _, m := range l.Machines {
		s.status("pod", metallbNamespace, standInSpeaker(m.Name), podStatus("10.244.0.9", "speaker", "x"))
	}
	s.answer()
	s.healthy("a cluster of stand-ins")
	s.find(s.faults(image))
	s.healthy("all mended")
	s.account()
	s.fromElsewhere()
	s.nftPods()
}

// nftPods has every machine run the plan's other pod, as a plan without an agent's image
// renders it.
func (s *verifySite) nftPods() {
	s.Helper()
	nft := *s
	nft.kind, nft.plan = NFTPod, filepath.Join(s.dir, "nft.yaml")
	s.must(os.WriteFile(nft.plan, []byte(clusterYAML), 0o644))
	for _, c := range s.lab.ControlPlanes {
		nft.mirror(c.talos(), c.Address.String(), "nft", nil)
	}
	for _, m := range s.lab.Machines {
		nft.mirror(m.talos(), m.PrivateAddress.String(), "nft", nil)
	}
	nft.healthy("the nft pods")
}

// newNodelessLab is a lab without the nodes' programs, and without speakers.
func newNodelessLab(t *testing.T) *Lab {
	t.Helper()
	set, err := parts.Ensure(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	repository, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	l := &Lab{set: set, dir: t.TempDir(), Logs: filepath.Join(repository, "out", "e2e", "verify-logs")}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(l.LogTails(12))
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	steps := []func() error{
		func() error { return errors.Join(os.RemoveAll(l.Logs), os.MkdirAll(l.Logs, 0o755)) },
		l.wire,
		func() (err error) {
			l.Product, err = makeProduct(t.Context(), repository, filepath.Join(l.dir, "product"))
			return err
		},
		func() error { return l.startControlPlanes(t.Context()) },
		func() error { return l.applyObjects(t.Context()) },
		l.startController,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// standInMachines makes the workers as nodes, with the pods that kubelets would show.
func (s *verifySite) standInMachines(image string) {
	s.Helper()
	for i, m := range s.lab.Machines {
		s.standInNode(m.Name, m.PrivateAddress.String(), s.patchLabels(m.talos()))
		s.mirror(m.talos(), m.PrivateAddress.String(), image, nil)
		for _, name := range slices.Sorted(maps.Keys(m.backends())) {
			s.backend(m, name, fmt.Sprintf("10.244.%d.1%d", i+1, len(name)))
		}
	}
}

// answer lets the router answer at every address and port of a service.
func (s *verifySite) answer() {
	s.Helper()
	router := s.lab.Net.Router
	for _, a := range s.lab.Net.Addresses.Pool {
		s.must(router.AddAddress("lo", netip.PrefixFrom(a, 32)))
	}
	for _, port := range []uint16{80, 8000, 8001, 8002, 8003, 9100} {
		echo, err := netlab.StartEcho(router, port)
		s.must(err)
		s.Cleanup(func() { s.must(echo.Close()) })
	}
}
