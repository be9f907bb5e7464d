package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"homeward/agent/ledger"
	"homeward/agent/openstack"
	"homeward/cmd/homeward/internal/allocation"
	"homeward/cmd/homeward/internal/ownerid"
	"homeward/netplan"
	"homeward/netplan/load"
)

// outFlag adds --out, where reserve keeps what OpenStack allocated.
func outFlag(cmd *cobra.Command, out *string) {
	cmd.Flags().StringVar(out, "out", defaultOut, "on OpenStack, the directory of generate, with "+allocation.FileName)
}

// The flags that only one provider has a meaning for.
var (
	proxmoxOnly   = []string{"live", "local", "accept", "allow-partial", "guests", "allow-replug", "probe", "interface", "wait"}
	openStackOnly = []string{"out"}
)

// flagsFor refuses flags that mean nothing with the plan's provider.
func (f *lookFlags) flagsFor(result *load.Result) error {
	names, other := openStackOnly, "OpenStack"
	if result.Plan.OpenStack != nil {
		names, other = proxmoxOnly, "Proxmox"
	}
	for _, name := range names {
		if f.changed(name) {
			return usage("--%s is for %s, and the plan is for %s: leave it out", name, other, result.Plan.Provider)
		}
	}
	return nil
}

// cloudSite is one plan at its OpenStack cloud, with its progress line.
type cloudSite struct {
	*openstack.Cluster
	progress progress
	// file is the allocation.json.
	file string
}

// connectCloud logs in to the plan's cloud, and prints what stands in the way.
func (t *tool) connectCloud(ctx context.Context, f *lookFlags, result *load.Result) (*cloudSite, error) {
	s, err := t.cloudOf(ctx, f, result)
	switch {
	case err == nil:
		return s, nil
	case codeOf(err) == exitUsage:
		return nil, t.refuse(f.output, err)
	}
	return nil, t.fail(f.output, err)
}

// cloudOf logs in to the plan's cloud. The owner has no id where the plan's directory
// has none.
func (t *tool) cloudOf(ctx context.Context, f *lookFlags, result *load.Result) (*cloudSite, error) {
	access, warnings, err := load.OpenStackAccess(f.file, result.Spec.OpenStack, os.Getenv)
	if err != nil {
		return nil, &coded{exitUsage, err}
	}
	for _, w := range warnings {
		t.log.Warn(w.Path + ": " + w.Message)
	}
	id, err := ownerid.Load(filepath.Dir(f.file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &coded{exitUsage, err}
	}
	p := newProgress(t.err)
	p.step("logging in")
	defer p.end()
	client, err := openstack.Connect(ctx, openstack.ClientOptions{
		Access: access, Log: t.log, UserAgent: "homeward/" + toolVersion(), Sleep: ledger.Sleep,
		Observe: func(r openstack.Request) {
			if t.log.Enabled(context.Background(), slog.LevelDebug) {
				t.log.Debug(r.String())
			}
		},
	})
	if err != nil {
		return nil, outcomeOf(err)
	}
	return &cloudSite{progress: p, file: filepath.Join(f.out, allocation.FileName), Cluster: &openstack.Cluster{
		Plan: result.Plan, API: client, Log: t.log, Sleep: ledger.Sleep,
		Owner:    ledger.Owner{ID: id, Cluster: result.Plan.Name},
		Progress: func(done, total int) { p.bar("changing", done, total) },
	}}, nil
}

// reserveCloud is reserve at OpenStack.
func (t *tool) reserveCloud(ctx context.Context, f *reserveFlags, result *load.Result) error {
	s, err := t.connectCloud(ctx, &f.lookFlags, result)
	if err != nil {
		return err
	}
	s.MakeOwner = func() (string, error) { return t.obtainOwner(f.file) }
	if f.dryRun && s.Owner.ID == "" {
		t.log.Info("no " + ownerid.FileName + " yet: the first reserve makes the owner's id, here it is zeros")
	}
	s.progress.step("reading what there is")
	res := s.Reserve(ctx, openstack.Options{DryRun: f.dryRun})
	s.progress.end()
	report := allocation.ReportOf(s.Owner, res, allocation.Reserved)
	report.Warnings = append(report.Warnings, s.Shut()...)
	if report.Outcome == allocation.Reserved {
		t.keep(s, res, report)
	}
	return errors.Join(cloudCode(report), t.showCloud(f.output, report))
}

// keep writes the addresses where generate reads them.
func (t *tool) keep(s *cloudSite, res openstack.Result, report *allocation.Report) {
	a, ok := res.Holding.Allocation()
	if !ok {
		report.Outcome, report.Error = allocation.Unknown, "the addresses could not be read: run it again"
		return
	}
	if before, err := allocation.Load(s.file); err == nil && before.Owner == a.Owner && before.Cluster == a.Cluster && before != a {
		report.Warnings = append(report.Warnings, moved(before, a))
	}
	if err := allocation.Save(s.file, a); err != nil {
		report.Outcome, report.Error = allocation.Failed, "all is reserved, but "+err.Error()
		return
	}
	report.File = s.file
}

// moved says which addresses are others than those that were generated with last.
func moved(before, now netplan.Allocation) string {
	var list []string
	for _, x := range []struct {
		what        string
		before, now netip.Addr
	}{
		{"the API's fixed IP", before.KubeAPI.Fixed, now.KubeAPI.Fixed}, {"the API's floating IP", before.KubeAPI.Floating, now.KubeAPI.Floating},
		{"the ingress's fixed IP", before.Ingress.Fixed, now.Ingress.Fixed}, {"the ingress's floating IP", before.Ingress.Floating, now.Ingress.Floating},
	} {
		if x.before != x.now {
			list = append(list, fmt.Sprintf("%s is %s, and was %s", x.what, x.now, x.before))
		}
	}
	return strings.Join(list, "; ") + ": generate again and apply what changes, and bring DNS to it"
}

// releaseCloud is release at OpenStack.
func (t *tool) releaseCloud(ctx context.Context, f *releaseFlags, result *load.Result) error {
	s, err := t.connectCloud(ctx, &f.lookFlags, result)
	if err != nil {
		return err
	}
	switch {
	case f.owner != "":
		if s.Owner, err = s.dead(ctx, f.owner); err != nil {
			return t.fail(f.output, err)
		}
	case s.Owner.ID == "":
		return t.fail(f.output, noOwner(f.file))
	}
	s.progress.step("reading what there is")
	res := s.Release(ctx, openstack.Options{DryRun: f.dryRun})
	s.progress.end()
	report := allocation.ReportOf(s.Owner, res, allocation.Released)
	if report.Outcome == allocation.Released && f.owner == "" {
		if _, err := allocation.Remove(s.file, s.Owner.ID); err != nil {
			report.Warnings = append(report.Warnings, err.Error())
		}
	}
	return errors.Join(cloudCode(report), t.showCloud(f.output, report))
}

// dead finds the owner that an operator named: ID, or ID/NAME.
func (s *cloudSite) dead(ctx context.Context, name string) (ledger.Owner, error) {
	id, cluster, named := strings.Cut(name, "/")
	owners, err := s.Owners(ctx)
	if err != nil {
		return ledger.Owner{}, err
	}
	var found []ledger.Owner
	for _, o := range owners {
		if o.ID == id && (!named || o.Cluster == cluster) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 0:
		return ledger.Owner{}, usage("--owner %q owns nothing in this project", name)
	case 1:
		return found[0], nil
	}
	return ledger.Owner{}, usage("--owner %q is several clusters: give ID/NAME, like %s/%s", name, found[0].ID, found[0].Cluster)
}

// statusCloud is status at OpenStack.
func (t *tool) statusCloud(ctx context.Context, f *lookFlags, result *load.Result) error {
	s, err := t.connectCloud(ctx, f, result)
	if err != nil {
		return err
	}
	report := s.status(ctx)
	return errors.Join(cloudCode(report), t.showCloud(f.output, report))
}

// status is what the cloud has of the plan, as it differs from it.
func (s *cloudSite) status(ctx context.Context) *allocation.Report {
	s.progress.step("reading what there is")
	res := s.Status(ctx)
	s.progress.end()
	report := allocation.ReportOf(s.Owner, res, allocation.AsPlanned)
	report.Warnings = append(report.Warnings, s.Shut()...)
	if res.Outcome == openstack.Rehearsed {
		report.Outcome = allocation.AsPlanned
		if a, ok := res.Holding.Allocation(); ok {
			if kept, err := allocation.Load(s.file); err != nil || kept != a {
				report.Stale = fmt.Sprintf("%s does not have these addresses: homeward reserve writes it, then generate again", s.file)
			}
		}
		if len(report.Steps)+len(report.Left) > 0 || report.Stale != "" {
			report.Outcome = allocation.Differs
		}
	}
	return report
}

// cloudCode is the exit code of how it ended; its text has been said.
func cloudCode(r *allocation.Report) error {
	switch r.Outcome {
	case allocation.Taken:
		return said(exitTaken)
	case allocation.Wrong:
		return said(exitUsage)
	case allocation.Failed:
		return said(exitFailed)
	case allocation.Unknown:
		return said(exitUnknown)
	case allocation.Differs:
		return said(exitDifference)
	}
	return nil
}

// cloudError gives an error of OpenStack's its exit code, and false for any other.
func cloudError(err error) (error, bool) {
	var access *openstack.AccessError
	var request *openstack.Error
	switch {
	case errors.As(err, &access):
		return &coded{exitUsage, err}, true
	case !errors.As(err, &request):
		return nil, false
	case errors.Is(err, ledger.ErrRefused), errors.Is(err, ledger.ErrGone), errors.Is(err, ledger.ErrStale):
		return &coded{exitFailed, err}, true
	}
	return &coded{exitUnknown, err}, true
}
