package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"homeward/netplan"
	"homeward/netplan/load"
)

// fileFlag adds -f, which every command that reads a plan has.
func fileFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVarP(file, "file", "f", "cluster.yaml", "the address plan")
	_ = cmd.MarkFlagFilename("file", "yaml", "yml")
}

// load reads a plan and says its warnings and, with -v, what it left alone.
// Faults come back as they are, for the command to print in its own format.
func (t *tool) load(file string) (*load.Result, error) {
	result, err := load.File(file)
	if err != nil {
		return nil, err
	}
	for _, w := range result.Plan.Warnings {
		t.warn(file, w)
	}
	for _, k := range result.Unused {
		t.log.Debug(fmt.Sprintf("%s:%d: %s is not ours: left to other tools", filepath.Base(file), k.Line, k.Path))
	}
	return result, nil
}

func (t *tool) warn(file string, w netplan.Warning) {
	place := filepath.Base(file)
	if w.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, w.Line)
	}
	t.log.Warn(fmt.Sprintf("%s: %s: %s", place, w.Path, w.Message))
}

// faulty turns faults of the plan into a usage error that prints one line each;
// what could not be read at all is one too, for the command line named it.
func faulty(err error) error {
	var faults *load.Faults
	if errors.As(err, &faults) {
		what := "mistakes"
		if len(faults.List) == 1 {
			what = "mistake"
		}
		return usage("%d %s in the plan\n%w", len(faults.List), what, err)
	}
	return &coded{exitUsage, err}
}

// readPlan reads a plan.json that an earlier run wrote.
func readPlan(path string) (*netplan.Plan, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const most = 64 << 20
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if len(data) > most {
		return nil, fmt.Errorf("%s is larger than %d MiB: give a plan.json", path, most>>20)
	}
	var p netplan.Plan
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("%s is not a plan.json: %w", path, err)
	}
	if p.Name == "" || len(p.Machines) == 0 {
		return nil, fmt.Errorf("%s is not a plan.json: it has no name or no machines", path)
	}
	return &p, nil
}
