package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"homeward/agent/ledger"
	"homeward/agent/proxmox"
	"homeward/netplan"
	"homeward/netplan/load"
)

// permissionFlags are those of `homeward proxmox permissions`.
type permissionFlags struct {
	file  string
	check bool
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
unknown. The exit code is 1 when something is lacking.`,
		Example: `  homeward proxmox permissions
  homeward proxmox permissions -f cluster.yaml
  homeward proxmox permissions -f cluster.yaml --check`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.permissions(cmd.Context(), f, cmd.Flags().Changed("file"))
		},
	}
	fileFlag(cmd, &f.file)
	cmd.Flags().BoolVar(&f.check, "check", false, "ask Proxmox what the token lacks")
	return cmd
}

func (t *tool) permissions(ctx context.Context, f permissionFlags, named bool) error {
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
		t.warn(load.SecretsFile, w)
	}
	client, err := t.client(access)
	if err != nil {
		return err
	}
	rights, err := proxmox.ReadRights(ctx, client)
	if err != nil {
		return err
	}
	return t.showLacking(rights, scope)
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

// showLacking prints task by task what a token lacks.
func (t *tool) showLacking(rights proxmox.Rights, scope proxmox.Scope) error {
	var b strings.Builder
	rows := [][]string{{"TASK", "LACKS", "WITHOUT IT"}}
	lacking := false
	for _, task := range proxmox.Tasks(scope) {
		missing := rights.Lacking(task.Needs...)
		if len(missing) == 0 {
			rows = append(rows, []string{task.Name, "nothing", "-"})
		}
		for _, n := range missing {
			lacking = true
			rows = append(rows, []string{task.Name, n.String(), n.Without})
		}
	}
	table(&b, rows)
	if _, err := fmt.Fprint(t.out, b.String()); err != nil || !lacking {
		return err
	}
	return said(exitFailed)
}
