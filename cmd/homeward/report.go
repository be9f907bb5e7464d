package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homeward/cmd/homeward/internal/report"
	"homeward/cmd/homeward/internal/report/render"
)

// reportFlags are those of `homeward report`.
type reportFlags struct {
	file, output        string
	kubeconfig, context string
	measured            []string
	survive             []string
	local, planOnly     bool
}

const reportLong = `Say for this very cluster which failures it survives: its components with what makes
them redundant, what each failure does and what that still depends on, which machines
share a Proxmox host and what its loss takes down at once, the single points, and what
would improve it. Advice that changes cluster.yaml is tried first: the plan with it
resolves.

It interprets what is declared, with everything declared taken as healthy. It rests on
the plan; on Proxmox where a token is given (as for reserve; --local on a Proxmox host
needs none), which knows where each machine really runs; and on the cluster with
--kubeconfig, which knows endpoints, policies and who announces. Of the cluster it lists
nodes, pods, services, deployments.apps, endpointslices.discovery.k8s.io and
servicel2statuses.metallb.io, and needs no other right. --plan-only reads neither. What
is not known is said as unknown. What was measured is kept apart: --measured takes what
homeward probe -o json printed.

-o html prints one page that needs nothing else, with a picture of the failure domains.
-o json is a contract for scripts: fields are added, never renamed.

  format, cluster
  sources         proxmox and kubernetes: state (read, partial, failed, not_read), detail[]
  assumptions[]   what is taken for granted
  answers[]       question (worker, control-plane, host), ingress, api, config, text
  components[]    name, layout, mechanism, observed
  announcements[] address, order[] (who announces it, then who follows), eligible,
                  services[], policy, now[], endpoints[]: node, count
  hosts[]         name, offline, uplinks[], machines[]: name, role, external, announces,
                  may_hold_vip, addresses[]; loss: ingress, api, config, control_planes,
                  announcers, vip_candidates, etcd_left (members, there), quorum (kept,
                  lost, unknown), announcers_left, addresses[], text
  unplaced[]      machines whose host is not known
  network         external and private: segment, cidr, gateway; vip, vip_link
  failures[]      kind, subject, ingress, api, config, expected, remains
  single_points[] kind, name, takes[] (ingress, api, config), why
  improvements[]  change, why, edits[]: path, value; after_improvements
  measured[]      file, target, address, of, start, length_ns, interval_ns, attempts,
                  answered, failed, unknown, outages, longest_outage_ns,
                  total_outage_ns, connect_p99_ns, on_link, take_overs[]
  unknown[]       what could change the answers

ingress, api and config are each stays, moves (interrupted, then goes on by itself),
lost, unknown or absent.

Exit codes: 0 the report is written; 1 --must-survive asks for what is lost; 2 the plan,
a file or the command line is wrong; 4 a source could not be read, or --must-survive
asks for what is not known. With 1 and 4 the report is written all the same.`

func (t *tool) reportCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report",
		Short: "which failures this cluster survives, and what that rests on",
		Long:  reportLong,
		Example: `  homeward report -f cluster.yaml
  homeward report -f cluster.yaml --kubeconfig kubeconfig -o html > report.html
  homeward probe 203.0.113.75:443 --duration 2m -o json > drill.json
  homeward report -f cluster.yaml --measured drill.json
  homeward report -f cluster.yaml --must-survive worker,control-plane,host -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.report(cmd.Context(), &f) },
	}
	fileFlag(cmd, &f.file)
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "markdown", "markdown, json or html")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "also read the cluster that this file leads to")
	flags.StringVar(&f.context, "context", "", "a context of the kubeconfig (default its current one)")
	flags.StringArrayVar(&f.measured, "measured", nil, "what homeward probe -o json printed; repeatable")
	flags.StringSliceVar(&f.survive, "must-survive", nil, "worker, control-plane, host: exit with 1 when the loss of one takes the pool or the API down")
	flags.BoolVar(&f.local, "local", false, "read guests and networks from /etc/pve of this Proxmox host instead of by the API")
	flags.BoolVar(&f.planOnly, "plan-only", false, "read neither Proxmox nor the cluster")
	return cmd
}

func (f *reportFlags) check() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !slices.Contains([]string{"markdown", "json", "html"}, f.output) {
		fault("-o %q is not known: give markdown, json or html", f.output)
	}
	questions := []string{string(report.AnyWorker), string(report.AnyControlPlane), string(report.AnyHost)}
	for _, q := range f.survive {
		if !slices.Contains(questions, q) {
			fault("--must-survive %q is not known: give some of %s", q, strings.Join(questions, ", "))
		}
	}
	if f.planOnly && (f.local || f.kubeconfig != "") {
		fault("--plan-only reads neither Proxmox nor the cluster: leave out --local and --kubeconfig, or it")
	}
	if f.context != "" && f.kubeconfig == "" {
		fault("--context %q needs --kubeconfig", f.context)
	}
	if err := errors.Join(errs...); err != nil {
		return usage("%w", err)
	}
	return nil
}

func (t *tool) report(ctx context.Context, f *reportFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	result, err := t.load(f.file)
	if err != nil {
		return t.refuse(refusalFormat(f.output), err)
	}
	if result.Plan.OpenStack != nil {
		return t.refuse(refusalFormat(f.output), usage("the plan is for OpenStack, and the report judges clusters on Proxmox: nothing here knows which of the cloud's hosts, routers and zones the machines share"))
	}
	facts := report.Facts{Spec: result.Spec, Plan: result.Plan, Proxmox: report.Source{State: report.SourceNotRead}, Kubernetes: report.Source{State: report.SourceNotRead}}
	for _, file := range f.measured {
		data, err := readFile(file)
		if err != nil {
			return usage("--measured: %w", err)
		}
		list, err := report.ParseMeasured(filepath.Base(file), data, result.Plan)
		if err != nil {
			return usage("--measured: %w", err)
		}
		facts.Measured = append(facts.Measured, list...)
	}
	if err := t.readProvider(ctx, f, result, &facts); err != nil {
		return err
	}
	if err := t.readCluster(ctx, f, &facts); err != nil {
		return err
	}
	r := report.Make(facts)
	write := map[string]func() error{
		"markdown": func() error { return render.Markdown(t.out, r) },
		"json":     func() error { return render.JSON(t.out, r) },
		"html":     func() error { return render.HTML(t.out, r) },
	}[f.output]
	return errors.Join(write(), unreadSources(r), survives(r, f.survive))
}

// refusalFormat is how mistakes in the plan are shown: scripts get JSON.
func refusalFormat(output string) string {
	if output == "json" {
		return "json"
	}
	return "table"
}

// unreadSources is an error for each source that was asked and not wholly read.
func unreadSources(r report.Report) error {
	var errs []error
	for _, s := range []struct {
		name string
		report.Source
	}{{"Proxmox", r.Sources.Proxmox}, {"the cluster", r.Sources.Kubernetes}} {
		if s.State == report.SourceFailed || s.State == report.SourcePartial {
			errs = append(errs, &coded{exitUnknown, fmt.Errorf("%s was not read whole: %s", s.name, strings.Join(s.Detail, "; "))})
		}
	}
	return errors.Join(errs...)
}

// survives is an error for each question of which the answer must be yes and is not.
func survives(r report.Report, questions []string) error {
	var errs []error
	for _, a := range r.Answers {
		if !slices.Contains(questions, string(a.Question)) {
			continue
		}
		switch a.Worst() {
		case report.Lost:
			errs = append(errs, &coded{exitFailed, fmt.Errorf("--must-survive %s: %s", a.Question, a.Text)})
		case report.Unknown:
			errs = append(errs, &coded{exitUnknown, fmt.Errorf("--must-survive %s: %s", a.Question, a.Text)})
		}
	}
	return errors.Join(errs...)
}
