package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"homeward/cmd/homeward/internal/outdir"
	"homeward/netplan"
	"homeward/talosgen"
	"homeward/talosgen/daytwo"
	"homeward/talosgen/gitops"
	"homeward/talosgen/provision"
)

// Directories of the generated tree that an earlier plan may have filled.
const (
	dirTalos    = "talos"
	dirMachines = "machines"
	dirGitOps   = "kubernetes"
	dirArgoCD   = "argocd"
	dirProxmox  = "proxmox"
	dirCloud    = "openstack"
)

// treeBuilder gathers the files of one plan.
type treeBuilder struct {
	plan *netplan.Plan
	tree outdir.Tree
}

// buildTree renders every file of a plan; bases may be empty.
func buildTree(ctx context.Context, plan *netplan.Plan, bases bases) (outdir.Tree, error) {
	hash, err := outdir.PlanHash(plan)
	if err != nil {
		return outdir.Tree{}, err
	}
	b := &treeBuilder{plan: plan, tree: outdir.Tree{
		PlanHash: hash,
		Owned:    []string{dirTalos, dirMachines, dirGitOps, dirArgoCD, dirProxmox, dirCloud},
	}}
	ignore := outdir.File{Path: dirMachines + "/.gitignore", Content: []byte("*\n")}
	if len(bases) > 0 {
		b.add(ignore)
	} else {
		// Without bases the complete configs cannot be made anew, but those of
		// machines that are still in the plan are not stale.
		b.tree.Kept = append(b.tree.Kept, ignore.Path)
		for _, m := range plan.Machines {
			b.tree.Kept = append(b.tree.Kept, completeConfig(m))
		}
	}
	for _, step := range []func() error{
		func() error { return b.machines(ctx, bases) },
		b.objects, b.provisioning, b.planJSON,
	} {
		if err := step(); err != nil {
			return outdir.Tree{}, err
		}
	}
	return b.tree, nil
}

// add takes a file; nil content is a file that this plan does not need.
func (b *treeBuilder) add(f outdir.File) {
	if f.Content != nil {
		b.tree.Files = append(b.tree.Files, f)
	}
}

// machines renders each machine's patch and, with bases, its whole config, on all
// cores: they do not depend on one another.
func (b *treeBuilder) machines(ctx context.Context, bases bases) error {
	renderer, err := talosgen.NewRenderer(b.plan)
	if err != nil {
		return err
	}
	rendered := make([][]outdir.File, len(b.plan.Machines))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, m := range b.plan.Machines {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			rendered[i], err = renderMachine(renderer, b.plan, m, bases)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	b.tree.Files = append(b.tree.Files, slices.Concat(rendered...)...)
	return nil
}

// The paths of one machine's files.
func machinePatch(m netplan.Machine) string   { return dirTalos + "/" + m.Name + ".yaml" }
func completeConfig(m netplan.Machine) string { return dirMachines + "/" + m.Name + ".yaml" }

// renderMachine gives the files of one machine.
func renderMachine(renderer *talosgen.Renderer, plan *netplan.Plan, m netplan.Machine, bases bases) ([]outdir.File, error) {
	pod, err := talosgen.StaticPod(plan, m)
	if err != nil {
		return nil, err
	}
	patch, err := renderer.MachinePatch(m, pod)
	if err != nil {
		return nil, err
	}
	files := []outdir.File{{Path: machinePatch(m), Content: patch}}
	base, ok := bases[m.Role]
	if !ok {
		return files, nil
	}
	whole, err := renderer.Complete(base.text, m, pod)
	if err != nil {
		return nil, &coded{exitUsage, fmt.Errorf("%s: %w", base.path, err)}
	}
	return append(files, outdir.File{Path: completeConfig(m), Content: whole, Secret: true}), nil
}

// objects renders what goes to Kubernetes, and what tells how.
func (b *treeBuilder) objects() error {
	for _, o := range []struct {
		path   string
		render func(*netplan.Plan) ([]byte, error)
	}{
		{dirGitOps + "/metallb.yaml", gitops.MetalLB},
		{dirGitOps + "/traefik.yaml", gitops.Traefik},
		{dirGitOps + "/cleanup-pod.yaml", talosgen.CleanupPod},
		{dirArgoCD + "/values.yaml", gitops.ArgoCD},
		{"README.md", daytwo.README},
	} {
		text, err := o.render(b.plan)
		if err != nil {
			return fmt.Errorf("rendering %s: %w", o.path, err)
		}
		b.add(outdir.File{Path: o.path, Content: text})
	}
	return nil
}

// planJSON is the resolved plan, as `homeward plan -o json` prints it.
func (b *treeBuilder) planJSON() error {
	text, err := json.MarshalIndent(b.plan, "", "  ")
	if err != nil {
		return err
	}
	b.add(outdir.File{Path: "plan.json", Content: append(text, '\n')})
	return nil
}

// provisioning renders what makes the machines' NICs; on OpenStack what names their
// ports.
func (b *treeBuilder) provisioning() error {
	if b.plan.OpenStack != nil {
		vars, err := provision.CloudVars(b.plan)
		if err != nil {
			return fmt.Errorf("rendering the Terraform variables: %w", err)
		}
		b.add(outdir.File{Path: dirCloud + "/network.tfvars.json", Content: vars})
		return nil
	}
	script, err := provision.NICScript(b.plan)
	if err != nil {
		return fmt.Errorf("rendering the NIC script: %w", err)
	}
	b.add(outdir.File{Path: dirProxmox + "/nics.sh", Content: script, Executable: true})
	vars, err := provision.TFVars(b.plan)
	if err != nil {
		return fmt.Errorf("rendering the Terraform variables: %w", err)
	}
	b.add(outdir.File{Path: dirProxmox + "/network.tfvars.json", Content: vars})
	return nil
}
