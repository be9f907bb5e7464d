package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"homeward/cmd/homeward/internal/allocation"
	"homeward/cmd/homeward/internal/ownerid"
	"homeward/netplan"
)

// allocated completes a plan for OpenStack by what reserve allocated for it, as path
// says; planFile is the cluster.yaml, beside which the owner's id is. On any other
// provider the plan is complete. A missing file is an error that wraps
// fs.ErrNotExist, one that cannot be read has exit code 4, and one that is not this
// plan's 2.
func (t *tool) allocated(plan *netplan.Plan, planFile, path string) (*netplan.Plan, error) {
	if plan.OpenStack == nil {
		return plan, nil
	}
	a, err := allocation.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, &coded{exitUnknown, err}
	}
	id, err := ownerid.Load(filepath.Dir(planFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.log.Warn(fmt.Sprintf("no %s beside %s: whether %s is this cluster's, nobody can tell", ownerid.FileName, planFile, path))
	case err != nil:
		return nil, &coded{exitUsage, err}
	case id != a.Owner:
		return nil, usage("%s was allocated for owner %s, and %s says %s: give the directory of this cluster, or reserve again", path, netplan.Quote(a.Owner), ownerid.FileName, id)
	}
	completed, err := plan.Allocated(a)
	if err != nil {
		return nil, usage("%s: %w: run homeward reserve, which brings both together, or correct the plan", path, err)
	}
	return completed, nil
}

// settled gives the plan with every address known, or an error that says which are not,
// and what therefore is not done. file is the cluster.yaml, out the generated tree.
func (t *tool) settled(plan *netplan.Plan, file, out, undone string) (*netplan.Plan, error) {
	path := filepath.Join(out, allocation.FileName)
	completed, err := t.allocated(plan, file, path)
	if errors.Is(err, fs.ErrNotExist) {
		if plan.Complete() == nil {
			t.log.Warn(fmt.Sprintf("%s is missing: the addresses are those that the plan chooses, and nothing is reserved yet", path))
			return plan, nil
		}
		return nil, &coded{exitUnknown, unallocated(plan, file, out, undone)}
	}
	return completed, err
}

// needs are the files that cannot be written without an address, and what they need it
// for.
var needs = map[string]string{
	"kubeapi.fixed":    "talos/*.yaml (the VIP, its certificate, what is no node's own address), README.md",
	"kubeapi.floating": "talos/*.yaml of control planes (the API's certificate), README.md (the endpoint)",
	"ingress.fixed":    "kubernetes/metallb.yaml, kubernetes/traefik.yaml, argocd/values.yaml, talos/*.yaml (what is no node's own address)",
	"ingress.floating": "argocd/values.yaml, README.md",
}

// unallocated says which files lack what. Files with empty addresses would be applied
// by somebody, and a tree with some of its files missing would lose those that an
// earlier run wrote: so none is written.
func unallocated(plan *netplan.Plan, file, out, undone string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s is missing, and these addresses are not known without it\n", undone, filepath.Join(out, allocation.FileName))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(slices.Values(plan.Unallocated())) {
		fmt.Fprintf(w, "  %s\tfor %s\n", name, needs[name])
	}
	w.Flush() // into memory: cannot fail
	where := ""
	if out != defaultOut {
		where = " --out " + out
	}
	fmt.Fprintf(&b, "run homeward reserve -f %s%s, which allocates them and keeps them there, or choose all four in the section openstack", file, where)
	return errors.New(b.String())
}

// shown completes a plan for OpenStack as far as it can for showing it; what stands in
// the way is a warning of the plan's.
func (t *tool) shown(plan *netplan.Plan, f planFlags, named bool) (*netplan.Plan, error) {
	if plan.OpenStack == nil {
		if named {
			return nil, usage("--allocation is for OpenStack: on %s the plan has all addresses", plan.Provider)
		}
		return plan, nil
	}
	completed, err := t.allocated(plan, f.file, f.allocation)
	switch {
	case err == nil:
		return completed, nil
	case errors.Is(err, fs.ErrNotExist) && named:
		return nil, usage("--allocation: %w", err)
	case errors.Is(err, fs.ErrNotExist):
		return plan, nil
	}
	w := netplan.Warning{Path: "openstack", Message: "the allocated addresses are not shown: " + err.Error()}
	t.warn(f.file, w)
	bare := *plan
	bare.Warnings = append(slices.Clone(plan.Warnings), w)
	return &bare, nil
}
