package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homeward/cmd/homeward/internal/outdir"
	"homeward/netplan"
	"homeward/talosgen"
)

// defaultOut is the directory of the generated tree when nobody names another.
const defaultOut = "out"

// generateFlags are those of `homeward generate`.
type generateFlags struct {
	file, out         string
	bases             []string
	diff, force, live bool
}

func (t *tool) generateCommand() *cobra.Command {
	var f generateFlags
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "write every file that the plan needs",
		Long: `Write what Talos, MetalLB, Traefik, Argo CD and the provisioning scripts need.
out/README.md then has the exact commands for this cluster.

Only files that change are written, each of them whole or not at all. A machine
that left the plan loses its file. A file without Homeward's header is never
touched without --force.

--base takes the files of "talosctl gen config" and writes complete machine
configs to machines/ besides: the way to change a living cluster. They hold the
cluster's secrets, so they are readable by their owner only and kept from git.

--diff shows what would change, writes nothing, and returns 5 when there is a
difference.

On OpenStack the addresses are those that homeward reserve allocated and keeps in
allocation.json in the same directory; --live asks the cloud for them instead, and
keeps them there. While they are not known nothing is written: it says which files
lack what, and returns 4.`,
		Example: `  homeward generate -f cluster.yaml --out out
  homeward generate -f cluster.yaml --out out --diff
  homeward generate -f cluster.yaml --out out --base controlplane.yaml,worker.yaml
  homeward generate -f cluster.yaml --out out --live    # on OpenStack, in a fresh clone`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("base") && len(f.bases) == 0 {
				return usage("--base names no file: give controlplane.yaml,worker.yaml, or leave it out")
			}
			return t.generate(cmd.Context(), f)
		},
	}
	fileFlag(cmd, &f.file)
	cmd.Flags().StringVar(&f.out, "out", defaultOut, "the directory to write to")
	cmd.Flags().StringSliceVar(&f.bases, "base", nil, "base machine configs: one for control planes, one for workers")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "show what would change and write nothing")
	cmd.Flags().BoolVar(&f.live, "live", false, "on OpenStack, ask the cloud for the addresses, which only reads")
	cmd.Flags().BoolVar(&f.force, "force", false, "also overwrite files that are not Homeward's")
	return cmd
}

func (t *tool) generate(ctx context.Context, f generateFlags) error {
	if info, err := os.Stat(f.out); f.out == "" || err == nil && !info.IsDir() {
		return usage("--out %q is no directory: give one, it is made when missing", f.out)
	}
	result, err := t.load(f.file)
	if err != nil {
		return faulty(err)
	}
	plan, live, err := t.addressed(ctx, f, result)
	if err != nil {
		return err
	}
	t.warnOfMoves(f, plan)
	bases, err := readBases(f.bases, plan)
	if err != nil {
		return &coded{exitUsage, err}
	}
	if err := t.judgeBases(bases, plan); err != nil {
		return &coded{exitUsage, err}
	}
	tree, err := buildTree(ctx, plan, bases)
	if err != nil {
		return err
	}
	if f.diff {
		return t.diff(f, plan, tree)
	}
	tree.Busy = func() { t.log.Info("waiting: another homeward is writing " + f.out) }
	report, err := tree.Write(f.out, f.force)
	if err != nil {
		return err
	}
	if err := keepLive(f, live); err != nil {
		return err
	}
	for _, name := range report.Removed {
		t.log.Info("removed " + filepath.Join(f.out, name))
	}
	for _, name := range report.Written {
		t.log.Debug("wrote " + filepath.Join(f.out, name))
	}
	t.log.Info(fmt.Sprintf("%s: %d files written, %d unchanged, %d removed; see %s",
		f.out, len(report.Written), len(report.Unchanged), len(report.Removed), filepath.Join(f.out, "README.md")))
	t.consequences(f, plan, report)
	return nil
}

// consequences says which machines have a new config to apply, and which complete
// configs were not made anew.
func (t *tool) consequences(f generateFlags, plan *netplan.Plan, report outdir.Report) {
	var names []string
	outdated := 0
	for _, m := range plan.Machines {
		if slices.Contains(report.Outdated, completeConfig(m)) {
			outdated++
		}
		for _, path := range []string{machinePatch(m), completeConfig(m)} {
			if slices.Contains(report.Written, path) && !slices.Contains(report.Restamped, path) {
				names = append(names, m.Name)
				break
			}
		}
	}
	if n := len(names); n > 0 && n < len(plan.Machines) {
		t.log.Info("machines whose config changed: " + strings.Join(names, ", "))
	}
	if outdated > 0 {
		t.log.Warn(fmt.Sprintf("%d complete configs in %s are of another plan: run again with --base before you apply one", outdated, filepath.Join(f.out, dirMachines)))
	}
}

func (t *tool) diff(f generateFlags, plan *netplan.Plan, tree outdir.Tree) error {
	report, err := tree.Diff(t.out, f.out, f.force)
	if err != nil {
		return err
	}
	t.consequences(f, plan, report)
	if !report.Changed() {
		t.log.Info(f.out + " is up to date")
		return nil
	}
	t.log.Info(fmt.Sprintf("%s: %d files would change, %d only in the plan's hash, %d would be removed",
		f.out, len(report.Written)-len(report.Restamped), len(report.Restamped), len(report.Removed)))
	return said(exitDifference)
}

// judgeBases warns of what a base says otherwise than the plan, in fields that are
// the operator's.
func (t *tool) judgeBases(bases bases, plan *netplan.Plan) error {
	for _, role := range slices.Sorted(maps.Keys(bases)) {
		differs, err := talosgen.Judge(bases[role].text, plan)
		if err != nil {
			return fmt.Errorf("--base %s: %w", bases[role].path, err)
		}
		for _, d := range differs {
			t.log.Warn(fmt.Sprintf("%s: %s: make the base again with the plan's (out/README.md has the command), or correct the plan", bases[role].path, d))
		}
	}
	return nil
}

// warnOfMoves says whose anchor moves against the plan that was generated last.
func (t *tool) warnOfMoves(f generateFlags, plan *netplan.Plan) {
	path := filepath.Join(f.out, "plan.json")
	old, err := readPlan(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.log.Warn("not comparing with the last plan: " + err.Error())
		return
	}
	var moved []string
	for _, c := range netplan.Compare(old, plan) {
		if c.Field == "anchor" {
			moved = append(moved, fmt.Sprintf("%s (%s to %s)", c.Machine, c.Old, c.New))
		}
	}
	if len(moved) > 0 {
		t.log.Warn(fmt.Sprintf("anchors move against %s: %s; homeward plan --against %s --pin-anchors prints the lines that keep them", path, strings.Join(moved, ", "), path))
	}
}
