//go:build linux

package kube

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// clusterYAML is the lab's plan, as an operator would write it. Its addresses
// are those of netlab.
//
//go:embed cluster.yaml
var clusterYAML string

// AgentImage is the agent's image in the plan.
const AgentImage = "lab.invalid/homeward-agent:v1"

// agentSection makes the plan's static pods the agent.
const agentSection = "agent: {image: " + AgentImage + "}\n"

// Kind is one of the product's two static pods.
type Kind string

// The kinds: the agent in its own image, and the shell loop around nft in the
// image of kube-proxy, which a plan without agent.image gives.
const (
	AgentPod Kind = "agent"
	NFTPod   Kind = "nft"
)

// Product is what the product made of the plan.
type Product struct {
	// Homeward is the operator's tool.
	Homeward string
	// Agent is the program of the static pod and of Proxmox hosts.
	Agent string
	// Image is the archive of the agent's image that it built.
	Image string

	dir string
}

// makeProduct has the tool that `make build` made do its work.
func makeProduct(ctx context.Context, repository, dir string) (*Product, error) {
	p := &Product{
		Homeward: filepath.Join(repository, "bin", "homeward"),
		Agent:    filepath.Join(repository, "bin", "homeward-agent"),
		Image:    filepath.Join(dir, "agent.tar"),
		dir:      dir,
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := run(ctx, dir, p.Homeward, "image", "build", "--output", p.Image, "--tag", AgentImage); err != nil {
		return nil, err
	}
	for kind, section := range map[Kind]string{AgentPod: agentSection, NFTPod: ""} {
		if err := p.generate(ctx, kind, clusterYAML+section); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// poolLine is the plan's line that an operator changes to grow the pool.
var poolLine = regexp.MustCompile(`(?m)^( *ingress_pool: ).*$`)

// Regenerate changes the plan's pool, written as cluster.yaml has it, pins the
// ingress controller's Service unless ingress is the zero Addr, and has the tool
// update what it generated for the agent.
func (p *Product) Regenerate(ctx context.Context, pool string, ingress netip.Addr) error {
	plan := poolLine.ReplaceAllString(clusterYAML, "${1}"+pool) + agentSection
	if ingress.IsValid() {
		plan += fmt.Sprintf("ingress: {address: %s}\n", ingress)
	}
	return p.generate(ctx, AgentPod, plan)
}

// generate has the tool check a plan and write its files.
func (p *Product) generate(ctx context.Context, kind Kind, plan string) error {
	file := filepath.Join(p.dir, string(kind)+".yaml")
	if err := os.WriteFile(file, []byte(plan), 0o644); err != nil {
		return err
	}
	if err := run(ctx, p.dir, p.Homeward, "plan", "-f", file); err != nil {
		return err
	}
	return run(ctx, p.dir, p.Homeward, "generate", "-f", file, "--out", filepath.Join(p.dir, string(kind)))
}

// File reads one of the files that were generated for a kind of pod.
func (p *Product) File(kind Kind, parts ...string) ([]byte, error) {
	return os.ReadFile(filepath.Join(append([]string{p.dir, string(kind)}, parts...)...))
}

// run runs a program outside the lab's hosts.
func run(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}
