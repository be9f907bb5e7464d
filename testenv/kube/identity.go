//go:build linux

package kube

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// The identities of Kubernetes's own programs, as every installer gives them.
const (
	identityProxy       = "system:kube-proxy"
	identityControllers = "system:kube-controller-manager"
	identityNode        = "system:node:" // and the node's name
	groupNodes          = "system:nodes"
)

// kubeconfigOf is the file of a program's own identity.
func (l *Lab) kubeconfigOf(program string) string { return l.pki.file(program + ".kubeconfig") }

// identify makes a client certificate of the cluster's authority for a program, and its
// kubeconfig, once: the program may be at work with them. What it may do is Kubernetes's
// own rules' to say.
func (l *Lab) identify(program, user string, groups ...string) error {
	if _, err := os.Stat(l.kubeconfigOf(program)); err == nil {
		return nil
	}
	if err := l.pki.issueClient(program, user, groups); err != nil {
		return err
	}
	return os.WriteFile(l.kubeconfigOf(program), fmt.Appendf(nil, kubeconfigText, apiURL(l.Control().Address), l.pki.file("ca.crt"),
		fmt.Sprintf("client-certificate: %q, client-key: %q", l.pki.file(program+".crt"), l.pki.file(program+".key"))), 0o600)
}

// account makes the kubeconfig of a program that has a service account, with a token
// that the API server gives for it, as it does to pods.
func (l *Lab) account(ctx context.Context, program, namespace, name string) error {
	var token []byte
	if err := WaitFor(ctx, "a token of account "+name, func(ctx context.Context) (err error) {
		token, err = l.Kubectl(ctx, nil, "-n", namespace, "create", "token", name, "--duration=24h")
		return err
	}); err != nil {
		return err
	}
	return os.WriteFile(l.kubeconfigOf(program), fmt.Appendf(nil, kubeconfigText, apiURL(l.Control().Address), l.pki.file("ca.crt"),
		fmt.Sprintf("token: %q", bytes.TrimSpace(token))), 0o600)
}

// accessKinds are the objects that say who may do what.
var accessKinds = []string{"ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}

// applyAccess applies what a project's own manifest says of who may do what, and
// nothing else of it.
func (l *Lab) applyAccess(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var chosen []string
	for part := range strings.SplitSeq(string(text), "\n---") {
		var object struct{ Kind string }
		if err := yaml.Unmarshal([]byte(part), &object); err != nil {
			return fmt.Errorf("reading %s: %w", filepath.Base(file), err)
		}
		if slices.Contains(accessKinds, object.Kind) {
			chosen = append(chosen, part)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("%s has nothing of who may do what", filepath.Base(file))
	}
	return l.Apply(ctx, strings.Join(chosen, "\n---\n"))
}

// metallbAccounts makes the identities of MetalLB's programs out of its own manifest.
func (l *Lab) metallbAccounts(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := l.applyAccess(ctx, l.set.MetalLBManifest); err != nil {
		return err
	}
	for program, name := range map[string]string{programController: "controller", programSpeaker: "speaker"} {
		if err := l.account(ctx, program, metallbNamespace, name); err != nil {
			return err
		}
	}
	return nil
}
