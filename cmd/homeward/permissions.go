package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"homeward/agent/ledger"
	"homeward/agent/proxmox"
	"homeward/netplan"
	"homeward/netplan/load"
)

// permissionFlags are those of `homeward proxmox permissions`.
type permissionFlags struct {
	file, output, purpose string
	check                 bool
}

// purposes are what --for takes, with the tasks that each needs. Of the two kinds of
// ledger one is enough.
var purposes = map[string][]proxmox.TaskID{
	"status":  {proxmox.ForStatus},
	"live":    {proxmox.ForStatus, proxmox.ForLive},
	"reserve": {proxmox.ForStatus, proxmox.ForSet, proxmox.ForPools, proxmox.ForIPAM},
	"guests":  {proxmox.ForStatus, proxmox.ForSet, proxmox.ForPools, proxmox.ForIPAM, proxmox.ForGuests},
}

func (t *tool) proxmoxCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "proxmox",
		Short: "what Homeward needs of Proxmox",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(t.permissionsCommand())
	return cmd
}

func (t *tool) permissionsCommand() *cobra.Command {
	var f permissionFlags
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "the least rights a token needs, as commands that grant them",
		Long: `Print the commands that make a token with the least rights, task by task, for a
shell on a Proxmox host. With a plan the paths are the plan's; without one they have
placeholders in capitals.

--check asks Proxmox what the token of secrets.yaml or the environment may do, and
lists for each task which privilege it lacks on which path, and what that makes
unknown. The exit code is 0 when the token is enough for what --for names (of the two
kinds of ledger one is enough), 1 when it is not, and 4 when Proxmox could not be asked.`,
		Example: `  homeward proxmox permissions
  homeward proxmox permissions -f cluster.yaml
  homeward proxmox permissions -f cluster.yaml --check
  homeward proxmox permissions -f cluster.yaml --check --for status -o json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.permissions(cmd.Context(), f, cmd.Flags().Changed("file"))
		},
	}
	fileFlag(cmd, &f.file)
	cmd.Flags().StringVarP(&f.output, "output", "o", "table", "with --check: table, json or yaml")
	cmd.Flags().StringVar(&f.purpose, "for", "reserve", "with --check, what must be possible: status, live, reserve or guests")
	cmd.Flags().BoolVar(&f.check, "check", false, "ask Proxmox what the token lacks")
	return cmd
}

func (t *tool) permissions(ctx context.Context, f permissionFlags, named bool) error {
	if purposes[f.purpose] == nil {
		return usage("--for %q is not known: give status, live, reserve or guests", f.purpose)
	}
	if err := (&lookFlags{output: f.output}).check(); err != nil {
		return err
	}
	var scope proxmox.Scope
	var spec *netplan.ProxmoxSpec
	if named || f.check {
		result, err := t.load(f.file)
		if err != nil {
			return faulty(err)
		}
		spec = result.Spec.Proxmox
		if scope, err = scopeOf(result.Plan); err != nil {
			return &coded{exitUsage, err}
		}
	}
	if !f.check {
		_, err := io.WriteString(t.out, proxmox.Recipe(scope))
		return err
	}
	access, warnings, err := load.Access(f.file, spec, os.Getenv)
	if err != nil {
		return faulty(err)
	}
	for _, w := range warnings {
		t.log.Warn(w.Path + ": " + w.Message)
	}
	client, err := t.client(access)
	if err != nil {
		return err
	}
	rights, err := proxmox.ReadRights(ctx, client)
	if err != nil {
		return t.fail(f.output, err)
	}
	return t.showLacking(f, rights, scope)
}

// scopeOf is what a plan needs rights for, as far as the plan alone can say: where
// its segment has another name in Proxmox the record has that one.
func scopeOf(p *netplan.Plan) (proxmox.Scope, error) {
	var s proxmox.Scope
	for _, m := range p.Machines {
		if m.VMID != 0 {
			s.VMIDs = append(s.VMIDs, m.VMID)
		}
	}
	if len(s.VMIDs) < len(p.Machines) {
		s.VMIDs = nil // all guests, for those without a number could be any
	}
	if p.OpenStack != nil {
		return s, errors.New("the plan is for OpenStack, and this is about a token for Proxmox")
	}
	if p.External == nil {
		return s, errors.New("the plan has no external network, so there is nothing to reserve: see proxmox.network.external")
	}
	s.Bridge, s.VNet = p.External.Bridge, p.External.VNet
	if s.VNet != "" {
		return s, nil
	}
	var err error
	s.Ledger, err = ledger.SetName(p.External.Segment)
	return s, err
}

// taskRights is what a token has for one task.
type taskRights struct {
	Task    string         `json:"task"`
	About   string         `json:"about"`
	Enough  bool           `json:"enough"`
	Lacking []lackingRight `json:"lacking"`
}

// lackingRight is one right, and what is unknown or fails without it.
type lackingRight struct {
	Right   string `json:"right"`
	Without string `json:"without"`
}

// showLacking prints task by task what a token lacks, and judges what it is for.
func (t *tool) showLacking(f permissionFlags, rights proxmox.Rights, scope proxmox.Scope) error {
	var report struct {
		For    string       `json:"for"`
		Enough bool         `json:"enough"`
		Tasks  []taskRights `json:"tasks"`
	}
	has := map[proxmox.TaskID]bool{}
	for _, task := range proxmox.Tasks(scope) {
		missing := rights.Lacking(task.Needs...)
		r := taskRights{Task: task.Name, About: task.About, Enough: len(missing) == 0, Lacking: []lackingRight{}}
		for _, n := range missing {
			r.Lacking = append(r.Lacking, lackingRight{n.String(), n.Without})
		}
		has[task.ID] = r.Enough
		report.Tasks = append(report.Tasks, r)
	}
	if _, needed := has[proxmox.ForIPAM]; !needed {
		has[proxmox.ForIPAM] = true
	}
	either := has[proxmox.ForSet] || has[proxmox.ForPools]
	has[proxmox.ForSet], has[proxmox.ForPools] = either, either
	report.For, report.Enough = f.purpose, true
	for _, id := range purposes[f.purpose] {
		report.Enough = report.Enough && has[id]
	}
	var code error
	if !report.Enough {
		code = said(exitFailed)
	}
	if f.output != "table" {
		return errors.Join(code, encode(t.out, f.output, report))
	}
	rows := [][]string{{"TASK", "LACKS", "WITHOUT IT"}}
	for _, r := range report.Tasks {
		if r.Enough {
			rows = append(rows, []string{r.Task, "nothing", "-"})
		}
		for _, n := range r.Lacking {
			rows = append(rows, []string{r.Task, n.Right, n.Without})
		}
	}
	b := t.page()
	table(b, rows)
	verdict := "not enough"
	if report.Enough {
		verdict = "enough"
	}
	fmt.Fprintf(b, "\nFor %s: %s\n", f.purpose, verdict)
	_, err := io.WriteString(t.out, b.String())
	return errors.Join(code, err)
}
