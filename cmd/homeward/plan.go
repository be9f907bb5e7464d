package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"homeward/cmd/homeward/internal/allocation"
	"homeward/netplan"
	"homeward/netplan/load"
)

// planFlags are those of `homeward plan`.
type planFlags struct {
	file, output, against, allocation string
	pin                               bool
}

func (t *tool) planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "check the plan and show who gets what",
		Long: `Check cluster.yaml and show the plan that follows from it: addresses, MACs,
anchors, marks, and what is kept for whom. Every mistake is shown at once, with
its line and the value that would be right; then the exit code is 2.

With -o json standard output is a contract for scripts: fields are added, never
renamed. A faulty plan gives {"errors": [{"line", "path", "message"}]}.

On OpenStack the addresses of the API and the ingress are shown once homeward reserve
has allocated them (--allocation); until then fixed and floating are empty.

--against out/plan.json says what the change will do to which machine, before
it is done. --pin-anchors prints the lines under machines: that keep anchors
where they are (with --against: where they were).`,
		Example: `  homeward plan -f cluster.yaml
  homeward plan -f cluster.yaml -o json | jq '.machines[].anchor'
  homeward plan -f cluster.yaml --against out/plan.json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.plan(f, cmd.Flags().Changed("allocation")) },
	}
	fileFlag(cmd, &f.file)
	cmd.Flags().StringVarP(&f.output, "output", "o", "table", "table, json or yaml")
	cmd.Flags().StringVar(&f.against, "against", "", "a plan.json to compare with")
	cmd.Flags().StringVar(&f.allocation, "allocation", filepath.Join(defaultOut, allocation.FileName), "on OpenStack, what homeward reserve allocated")
	cmd.Flags().BoolVar(&f.pin, "pin-anchors", false, "print the machines: lines that keep anchors")
	return cmd
}

func (t *tool) plan(f planFlags, allocationNamed bool) error {
	if f.output != "table" && f.output != "json" && f.output != "yaml" {
		return usage("-o %q is not known: give table, json or yaml", f.output)
	}
	result, err := t.load(f.file)
	if err != nil {
		return t.refuse(f.output, err)
	}
	var old *netplan.Plan
	if f.against != "" {
		if old, err = readPlan(f.against); err != nil {
			return t.refuse(f.output, usage("--against: %w", err))
		}
	}
	plan, err := t.shown(result.Plan, f, allocationNamed)
	if err != nil {
		return t.refuse(f.output, err)
	}
	if f.pin && plan.OpenStack != nil {
		return t.refuse(f.output, usage("--pin-anchors: machines on OpenStack have one NIC and no anchor"))
	}
	if f.pin {
		return t.pinAnchors(f, result.Spec, old)
	}
	view := planView{Plan: plan}
	if old != nil {
		view.Changes = netplan.Compare(old, plan)
		view.against = f.against
	}
	return t.show(f.output, view)
}

// planView is what the command prints: the plan, and with --against what changes.
type planView struct {
	*netplan.Plan
	Changes []netplan.Change `json:"changes,omitzero"`
	against string
}

func (t *tool) show(format string, view planView) error {
	if format == "table" {
		return t.writeTables(view)
	}
	if view.against != "" && view.Changes == nil {
		view.Changes = []netplan.Change{}
	}
	return encode(t.out, format, view)
}

// encode writes a value as indented JSON, or as YAML with the same fields.
func encode(w io.Writer, format string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err == nil && format == "yaml" {
		text, err = yaml.JSONToYAML(text)
	} else {
		text = append(text, '\n')
	}
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// refuse prints the faults of a plan in the format that was asked for.
func (t *tool) refuse(format string, err error) error {
	var faults *load.Faults
	if format == "table" {
		return faulty(err)
	}
	report := struct {
		Errors []load.Located `json:"errors"`
	}{[]load.Located{{Message: err.Error()}}}
	if errors.As(err, &faults) {
		report.Errors = faults.List
	}
	return errors.Join(said(exitUsage), encode(t.out, format, report))
}

// pinAnchors prints lines for cluster.yaml.
func (t *tool) pinAnchors(f planFlags, spec netplan.Spec, old *netplan.Plan) error {
	pins, faults := netplan.PinAnchors(spec, old)
	if len(faults) > 0 {
		err := errors.New("the anchors cannot be kept")
		for _, fault := range faults {
			err = fmt.Errorf("%w\n%w", err, fault)
		}
		return t.refuse(f.output, &coded{exitUsage, err})
	}
	if len(pins) == 0 {
		t.log.Info("no machine needs a pin: every anchor stays where it is")
	} else if len(spec.Machines) > 0 {
		t.log.Info("the file has machines: already; these lines go into it")
	}
	if f.output != "table" {
		return encode(t.out, f.output, struct {
			Pins []netplan.Pin `json:"pins"`
		}{append([]netplan.Pin{}, pins...)})
	}
	var b strings.Builder
	for _, p := range pins {
		if b.Len() == 0 {
			b.WriteString("machines:\n")
		}
		fmt.Fprintf(&b, "  %s: {anchor: %s}\n", p.Machine, p.Anchor)
	}
	_, err := io.WriteString(t.out, b.String())
	return err
}
