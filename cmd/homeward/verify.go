package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"homeward/cmd/homeward/internal/report/kube"
	"homeward/cmd/homeward/internal/verify"
	"homeward/talosgen/gitops"
)

// verifyFlags are those of `homeward verify`.
type verifyFlags struct {
	file, output, out   string
	kubeconfig, context string
	namespace           string
	timeout             time.Duration
	allowed             []string
	rbac                bool
}

const verifyLong = `Hold the living cluster against the plan: nodes, their addresses and return-path pods,
MetalLB's pools, announcements and speakers, services and their addresses, the API's
address and certificate, what forwards, and where a token for Proxmox or a credential
for OpenStack is given what is reserved there. Each check says what was seen, why it
matters and what to do.

It only reads, from the API server of the kubeconfig (without --kubeconfig: the one that
kubectl would ask), and by connecting to the API's address and to every TCP port of every
LoadBalancer service from here. Run it from a client behind the external router: from
the services' own segment, or from a node, answers prove nothing of the return path, and
there is a warning. On OpenStack the addresses are those of allocation.json, which
homeward reserve writes, and what is asked are the floating IPs. --rbac prints a service account that may read what is needed and
nothing else, with the commands that make a kubeconfig of it.

A check that could not be made (no right, no such kind, no answer) is unknown, never
passed. --allow-unknown names checks that may be: they stay unknown and no longer count.

-o json is a contract for scripts: fields are added, never renamed; IDs are kept.

  format, cluster, server, taken (RFC 3339)
  counts     pass, warn, fail, unknown, skipped: how many checks
  checks[]   id, title, result, seen[] (the worst first), unseen (what even a pass does
             not show), why, remedies[]: text, command (capitals are to be filled in);
             allowed (it may be unknown)

The checks are

%s
Exit codes: 0 nothing failed (there may be warnings); 1 a check failed; 2 the plan, the
kubeconfig or the command line is wrong; 4 a check could not be made, also where others
failed. With 1 and 4 everything is printed all the same.`

func (t *tool) verifyCommand() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "hold the living cluster against the plan, each check with its remedy",
		Long:  fmt.Sprintf(verifyLong, checkList()),
		Example: `  homeward verify -f cluster.yaml
  homeward verify -f cluster.yaml --kubeconfig verify.kubeconfig --allow-unknown reservation
  homeward verify -f cluster.yaml -o json | jq -r '.checks[] | select(.result == "fail") | .id'
  homeward verify --rbac | kubectl apply -f -`,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.verify(cmd.Context(), &f) },
	}
	fileFlag(cmd, &f.file)
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "table", "table or json")
	flags.StringVar(&f.out, "out", "out", "the generated tree: it is compared with the plan where it is there")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "the cluster (default what kubectl takes: $KUBECONFIG or ~/.kube/config)")
	flags.StringVar(&f.context, "context", "", "a context of the kubeconfig (default its current one)")
	flags.StringVar(&f.namespace, "metallb-namespace", gitops.MetalLBNamespace, "where MetalLB runs")
	flags.DurationVar(&f.timeout, "timeout", kube.DefaultTimeout, "how long one request may take; a handshake takes 5s at most")
	flags.StringSliceVar(&f.allowed, "allow-unknown", nil, "checks that may be unknown without changing the exit code")
	flags.BoolVar(&f.rbac, "rbac", false, "print a service account that may read what verify needs, and read nothing")
	return cmd
}

// checkList shows the IDs and titles for --help.
func checkList() string {
	var rows [][]string
	for _, c := range verify.Catalogue() {
		rows = append(rows, []string{"  " + c.ID, c.Title})
	}
	var b strings.Builder
	table(&b, rows)
	return b.String()
}

func (f *verifyFlags) check() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if f.output != "table" && f.output != "json" {
		fault("-o %q is not known: give table or json", f.output)
	}
	if f.timeout <= 0 {
		fault("--timeout %v: give a positive one", f.timeout)
	}
	if bad := validation.IsDNS1123Label(f.namespace); len(bad) > 0 {
		fault("--metallb-namespace %q is no namespace's name", f.namespace)
	}
	for _, id := range f.allowed {
		if !slices.ContainsFunc(verify.Catalogue(), func(c verify.Entry) bool { return c.ID == id }) {
			fault("--allow-unknown %q is no check: see homeward verify --help", id)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return usage("%w", err)
	}
	return nil
}

func (t *tool) verify(ctx context.Context, f *verifyFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.rbac {
		_, err := io.WriteString(t.out, verify.RBAC(f.namespace))
		return err
	}
	result, err := t.load(f.file)
	if err != nil {
		return t.refuse(f.output, err)
	}
	plan, err := t.settled(result.Plan, f.file, f.out, "nothing is verified")
	if err != nil {
		return t.fail(f.output, err)
	}
	client, err := kube.Open(kube.Options{
		Kubeconfig: f.kubeconfig, Context: f.context, UserAgent: "homeward/" + toolVersion(), Timeout: f.timeout,
	})
	if err != nil {
		return t.fail(f.output, usage("--kubeconfig: %w", err))
	}
	s, err := t.gather(ctx, f, result, plan, client)
	if err != nil {
		return t.fail(f.output, err)
	}
	allowed := map[string]bool{}
	for _, id := range f.allowed {
		allowed[id] = true
	}
	r := verify.Check(s, allowed)
	if f.output == "json" {
		err = encode(t.out, "json", r)
	} else {
		err = showVerified(t.out, r)
	}
	return errors.Join(err, verified(r))
}

// verified is an error for what failed, and one for what could not be seen.
func verified(r verify.Report) error {
	var errs []error
	for _, of := range []struct {
		result verify.Result
		code   exitCode
		what   string
	}{{verify.Fail, exitFailed, "failed"}, {verify.Unknown, exitUnknown, "could not be made"}} {
		if ids := r.With(of.result); len(ids) > 0 {
			errs = append(errs, &coded{of.code, fmt.Errorf("%d of %d checks %s: %s", len(ids), len(r.Checks), of.what, strings.Join(ids, ", "))})
		}
	}
	return errors.Join(errs...)
}
