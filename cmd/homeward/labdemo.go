//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"homeward/cmd/homeward/internal/topology"
	"homeward/testenv/netlab"
	"homeward/testenv/netlab/demo"
)

// labDemoFlags are those of `homeward lab demo`.
type labDemoFlags struct {
	output, plot, agent string
	withoutShell        bool
}

func (t *tool) labDemoCommand() *cobra.Command {
	var f labDemoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "show where replies go without Homeward, with a shell loop, and with the agent",
		Long: `Build the cluster three times: without a return path, with the public alternative
(a shell loop; it needs nft), and with Homeward's agent. Ask every kind of
backend from a client on the link and from one behind the router, over TCP and
UDP, and watch on the wire by which NIC each reply leaves. Then flush the rules
and kill the process under load, and count the lost replies.

It takes about a minute, most of which is the wait for the shell loop to notice.
All of it is gone afterwards, also after Ctrl-C.

The exit code is 1 when with the agent one reply did not go home, or a fault was
not repaired. With -o json standard output is a contract for scripts: fields are
added, never renamed; times are in nanoseconds.`,
		Example: `  homeward lab demo
  homeward lab demo --plot replies.svg
  homeward lab demo -o json | jq '.contenders[] | {name, faults}'`,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.labDemo(cmd.Context(), f) },
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "table", "table or json")
	cmd.Flags().StringVar(&f.plot, "plot", "", "also draw the paths before and after to this SVG file")
	cmd.Flags().BoolVar(&f.withoutShell, "without-shell", false, "leave out the shell loop, which takes most of the time")
	agentFlag(cmd, &f.agent)
	return cmd
}

func (t *tool) labDemo(ctx context.Context, f labDemoFlags) error {
	if f.output != "table" && f.output != "json" {
		return usage("-o %q is not known: give table or json", f.output)
	}
	if f.plot != "" {
		// Better now than after a minute.
		if _, err := os.Stat(filepath.Dir(f.plot)); err != nil {
			return usage("--plot: %w", err)
		}
	}
	agent, err := findAgent(f.agent)
	if err != nil {
		return err
	}
	err = t.inLab(func() error { return t.showDemo(ctx, f, agent) })
	if err != nil && interrupted(ctx) && !netlab.Inside() {
		return errors.New("interrupted: nothing of the lab is left")
	}
	return err
}

// showDemo runs inside the lab.
func (t *tool) showDemo(ctx context.Context, f labDemoFlags, agent string) error {
	contenders := []demo.Program{demo.Nothing()}
	if !f.withoutShell {
		contenders = append(contenders, demo.Shell())
	}
	contenders = append(contenders, demo.Agent(agent))
	p := newProgress(t.err)
	report, err := demo.Run(ctx, demo.Options{Contenders: contenders, Progress: p.step})
	p.end()
	if err != nil {
		if interrupted(ctx) {
			return said(exitFailed) // the process outside says so, when all is gone
		}
		return err
	}
	without, with := report.Contenders[0], report.Contenders[len(report.Contenders)-1]
	if f.plot != "" {
		if err := plot(f.plot, without, with); err != nil {
			return err
		}
	}
	if f.output == "json" {
		enc := json.NewEncoder(t.out)
		enc.SetIndent("", "  ")
		err = enc.Encode(report)
	} else {
		err = report.WriteTable(t.out)
	}
	return errors.Join(err, allHome(with))
}

func plot(path string, without, with demo.ContenderReport) error {
	var svg bytes.Buffer
	d := topology.Drawing{Addresses: netlab.DefaultAddresses(), Panels: []topology.Panel{
		{Title: "Without Homeward", Cells: without.Cells},
		{Title: "With Homeward", Cells: with.Cells},
	}}
	if err := d.Write(&svg); err != nil {
		return err
	}
	return os.WriteFile(path, svg.Bytes(), 0o644)
}

// allHome is an error when a reply went astray or a fault stayed.
func allHome(r demo.ContenderReport) error {
	if r.Skipped != "" {
		return fmt.Errorf("%s did not run: %s", r.Name, r.Skipped)
	}
	var errs []error
	for _, c := range r.Cells {
		if !c.Answered || c.Path != netlab.PathExternal {
			errs = append(errs, fmt.Errorf("%s: reply did not go home: %s (left by %s)", r.Name, c, c.Path))
		}
	}
	for _, f := range r.Faults {
		if !f.Repaired {
			errs = append(errs, fmt.Errorf("%s: not repaired: %s", r.Name, f.Fault))
		}
	}
	return errors.Join(errs...)
}
