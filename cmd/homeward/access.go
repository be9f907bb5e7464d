package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"homeward/agent/ledger"
	"homeward/agent/ledger/inventory"
	"homeward/agent/proxmox"
	"homeward/agent/pvefs"
	"homeward/cmd/homeward/internal/ownerid"
	"homeward/cmd/homeward/internal/reservation"
	"homeward/netplan"
	"homeward/netplan/load"
)

// lookFlags are those of every command that looks at a segment.
type lookFlags struct {
	file, output string
	live, local  bool
	accept       []string
	// out is where OpenStack's allocation.json is.
	out string
	// changed says that a flag was given.
	changed func(name string) bool
	// anything is a release's: see reservation.LookOptions.
	anything bool
}

func (f *lookFlags) add(cmd *cobra.Command) {
	f.changed = cmd.Flags().Changed
	fileFlag(cmd, &f.file)
	outFlag(cmd, &f.out)
	cmd.Flags().StringVarP(&f.output, "output", "o", "table", "table, json or yaml")
	cmd.Flags().BoolVar(&f.live, "live", false, "also ask running guests for the addresses they have")
	cmd.Flags().BoolVar(&f.local, "local", false, "read guests and networks from /etc/pve of this Proxmox host instead of by the API")
}

func (f *lookFlags) check() error {
	if f.output != "table" && f.output != "json" && f.output != "yaml" {
		return usage("-o %q is not known: give table, json or yaml", f.output)
	}
	if f.live && f.local {
		return usage("--live asks guests by the API, and --local does without it: give one of them")
	}
	return nil
}

// site is one plan at its Proxmox cluster, with its progress line.
type site struct {
	*reservation.Cluster
	progress progress
}

// read loads the plan, and refuses flags that mean nothing with its provider.
func (t *tool) read(f *lookFlags) (*load.Result, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	result, err := t.load(f.file)
	if err != nil {
		return nil, t.refuse(f.output, err)
	}
	if err := f.flagsFor(result); err != nil {
		return nil, t.fail(f.output, err)
	}
	return result, nil
}

// connect prepares to talk to the plan's Proxmox. The owner has no id where the plan's
// directory has none. Nothing is sent.
func (t *tool) connect(f *lookFlags, result *load.Result) (*site, error) {
	if result.Plan.External == nil {
		return nil, t.fail(f.output, usage("the plan has no external network, so there is nothing to reserve: see proxmox.network.external"))
	}
	s, err := t.siteOf(f.file, result)
	var faults *load.Faults
	if errors.As(err, &faults) {
		return nil, t.refuse(f.output, err)
	}
	return s, t.fail(f.output, err)
}

// siteOf is connect for a plan that has been loaded, and has an external network.
func (t *tool) siteOf(file string, result *load.Result) (*site, error) {
	access, warnings, err := load.Access(file, result.Spec.Proxmox, os.Getenv)
	if err != nil {
		return nil, &coded{exitUsage, err}
	}
	for _, w := range warnings {
		t.log.Warn(w.Path + ": " + w.Message)
	}
	client, err := t.client(access)
	if err != nil {
		return nil, err
	}
	id, err := ownerid.Load(filepath.Dir(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &coded{exitUsage, err}
	}
	p := newProgress(t.err)
	var mu sync.Mutex
	return &site{progress: p, Cluster: &reservation.Cluster{
		Plan: result.Plan, API: client, Log: t.log, Now: time.Now, Sleep: ledger.Sleep,
		Owner: ledger.Owner{ID: id, Cluster: result.Plan.Name},
		Progress: func(what string, done, total int) {
			mu.Lock()
			defer mu.Unlock()
			p.bar(what, done, total)
		},
	}}, nil
}

func (t *tool) client(access netplan.ProxmoxAccess) (*proxmox.Client, error) {
	client, err := proxmox.New(proxmox.Options{
		Access: access, Log: t.log, UserAgent: "homeward/" + toolVersion(),
		Observe: func(r proxmox.Request) {
			if t.log.Enabled(context.Background(), slog.LevelDebug) {
				t.log.Debug(r.String())
			}
		},
	})
	if err != nil {
		return nil, &coded{exitUsage, err}
	}
	return client, nil
}

// look reads everything that is known of the segment.
func (s *site) look(ctx context.Context, f *lookFlags) (*reservation.Look, error) {
	defer s.progress.end()
	o := reservation.LookOptions{Live: f.live, Accept: f.accept, Anything: f.anything}
	if f.local {
		o.Local = localSnapshot
	}
	return s.Look(ctx, o)
}

// localSnapshot reads this Proxmox host's files.
func localSnapshot() (*inventory.Snapshot, error) {
	name, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("finding this host's name: %w", err)
	}
	name, _, _ = strings.Cut(name, ".") // Proxmox names its nodes without the domain
	return pvefs.ReadDir(name, pvefs.ClusterDir, pvefs.NetworkDir)
}

// fail gives an error of a reservation its exit code; with -o json or yaml it is on
// standard output, in the shape of a faulty plan's, so that a script finds it there.
func (t *tool) fail(format string, err error) error {
	err = outcomeOf(err)
	if err == nil || format == "table" {
		return err
	}
	report := struct {
		Errors []load.Located `json:"errors"`
	}{[]load.Located{{Message: err.Error()}}}
	return errors.Join(said(codeOf(err)), encode(t.out, format, report))
}

// outcomeOf gives an error of a reservation its exit code.
func outcomeOf(err error) error {
	var plan *reservation.PlanError
	var known *coded
	var request *proxmox.Error // one that was not answered, or not as an API would
	if cloud, ok := cloudError(err); ok {
		return cloud
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.As(err, &plan):
		return &coded{exitUsage, err}
	case errors.Is(err, ledger.ErrUnknown), errors.As(err, &request) && !errors.Is(err, ledger.ErrRefused):
		return &coded{exitUnknown, err}
	}
	return &coded{exitFailed, err}
}
