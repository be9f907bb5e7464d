//go:build linux

package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"homeward/testenv/netlab"
)

// verifySite runs `homeward verify` for one lab, from a client.
type verifySite struct {
	*testing.T
	lab *Lab
	// from is where it runs.
	from             *netlab.Host
	dir              string
	plan, kubeconfig string
	// kind is the pod that the plan has.
	kind Kind
}

// apiRelay is where a client finds the API whoever holds the VIP.
const apiRelay = "127.0.0.1:6443"

// newVerifySite prepares a client for verify: a plan, a kubeconfig, and a way to the API
// server that does not need the VIP.
func newVerifySite(t *testing.T, l *Lab, from *netlab.Host) *verifySite {
	t.Helper()
	s := &verifySite{T: t, lab: l, from: from, dir: t.TempDir(), kind: AgentPod}
	s.plan, s.kubeconfig = filepath.Join(s.dir, "cluster.yaml"), filepath.Join(s.dir, "kubeconfig")
	s.must(os.WriteFile(s.plan, []byte(clusterYAML+agentSection), 0o644))
	s.relay(apiRelay, l.Control().Host, net.JoinHostPort(l.Control().Address.String(), fmt.Sprint(apiPort)))
	s.must(l.pki.writeKubeconfig(s.kubeconfig, "https://"+apiRelay))
	text, err := os.ReadFile(s.kubeconfig)
	s.must(err)
	text = bytes.Replace(text, []byte("certificate-authority:"), []byte("tls-server-name: "+l.Control().Address.String()+", certificate-authority:"), 1)
	s.must(os.WriteFile(s.kubeconfig, text, 0o600))
	return s
}

func (s *verifySite) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// relay hands every connection that comes to an address of the client on.
func (s *verifySite) relay(address string, through *netlab.Host, target string) {
	s.Helper()
	listener, err := s.from.Listen("tcp4", address)
	s.must(err)
	s.Cleanup(func() { listener.Close() })
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := through.Dial(context.Background(), "tcp4", target)
			if err != nil {
				in.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
				go func() {
					_, _ = io.Copy(way[1], way[0])
					way[0].Close()
					way[1].Close()
				}()
			}
		}
	}()
}

// verified is what -o json has, as far as it is looked at.
type verified struct {
	Checks []struct {
		ID, Result string
		Seen       []string
		Remedies   []struct{ Text, Command string }
	}
}

// of gives a check's result and what it saw.
func (v verified) of(id string) (result, seen string) {
	for _, c := range v.Checks {
		if c.ID == id {
			return c.Result, strings.Join(c.Seen, "\n")
		}
	}
	return "", ""
}

// others lists the checks that did not pass, but for some.
func (v verified) others(but ...string) string {
	var out []string
	for _, c := range v.Checks {
		if c.Result != "pass" && !slices.Contains(but, c.ID) {
			out = append(out, c.ID+" "+c.Result+": "+strings.Join(c.Seen, "; "))
		}
	}
	return strings.Join(out, "\n")
}

// noProxmox is the one check that the lab cannot make.
const noProxmox = "reservation"

// verify runs it and gives what it says, with the exit code.
func (s *verifySite) verify(kubeconfig string, args ...string) (verified, int) {
	s.Helper()
	out, code := s.run(slices.Concat([]string{"verify", "-f", s.plan, "--kubeconfig", kubeconfig, "-o", "json",
		"--out", filepath.Join(s.lab.Product.dir, string(s.kind)), "--allow-unknown", noProxmox}, args)...)
	var v verified
	if err := json.Unmarshal(out, &v); err != nil {
		s.Fatalf("verify gave exit code %d and no JSON: %v\n%s", code, err, out)
	}
	return v, code
}

// run runs the product's tool on the client.
func (s *verifySite) run(args ...string) (stdout []byte, code int) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	cmd := s.from.Command(ctx, s.lab.Product.Homeward, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		s.Fatal(err)
	}
	if text := out.String() + errs.String(); strings.Contains(text, s.lab.pki.token) {
		s.Errorf("%v prints the kubeconfig's token", args)
	}
	if out.Len() == 0 {
		s.Logf("%v: %s", args, errs.String())
	}
	return out.Bytes(), cmd.ProcessState.ExitCode()
}

// healthy wants every check to pass, and 0.
func (s *verifySite) healthy(what string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 40*time.Second)
	defer cancel()
	err := WaitFor(ctx, "everything to be as planned", func(context.Context) error {
		v, code := s.verify(s.kubeconfig)
		if text := v.others(noProxmox); text != "" || code != 0 {
			return fmt.Errorf("%s: exit code %d\n%s", what, code, text)
		}
		return nil
	})
	s.must(err)
}

// kubectl changes something.
func (s *verifySite) kubectl(args ...string) {
	s.Helper()
	_, err := s.lab.Kubectl(s.Context(), nil, args...)
	s.must(err)
}

// apply applies objects.
func (s *verifySite) apply(text string) {
	s.Helper()
	s.must(s.lab.Apply(s.Context(), text))
}

// status sets what no controller of the lab sets.
func (s *verifySite) status(kind, namespace, name, patch string) {
	s.Helper()
	s.kubectl("-n", namespace, "patch", kind, name, "--subresource=status", "--type=merge", "-p", `{"status": `+patch+`}`)
}
