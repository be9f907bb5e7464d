package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"homeward/cmd/homeward/internal/reservation"
)

func (t *tool) statusCommand() *cobra.Command {
	var f lookFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "what is claimed on the segment, by whom, and what has drifted",
		Long: `Show who has reserved which address on the plan's segment, for what and since when,
who else claims addresses there, and what has drifted: claimed and not in the plan, in
the plan and not claimed, claimed by this cluster and used by somebody else, and what
the cluster's own guests need. It only reads.

On OpenStack it shows what is allocated, and each difference from the plan as the step
by which reserve would end it; also where allocation.json says something else.

Exit code: 5 with drift, 3 when an address of the plan is taken, 4 when a source
could not be read, so that what is shown may not be all.`,
		Example: `  homeward status -f cluster.yaml
  homeward status -f cluster.yaml --live -o json | jq '.claims[]'
  homeward status -f cluster.yaml --local        # on a Proxmox host`,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.status(cmd.Context(), &f) },
	}
	f.add(cmd)
	cmd.Flags().StringArrayVar(&f.accept, "accept", nil, "a firewall name or IPAM entry that may stay, as for reserve; repeatable")
	return cmd
}

func (t *tool) status(ctx context.Context, f *lookFlags) error {
	result, err := t.read(f)
	if err != nil {
		return err
	}
	if result.Plan.OpenStack != nil {
		return t.statusCloud(ctx, f, result)
	}
	s, err := t.connect(f, result)
	if err != nil {
		return err
	}
	l, err := s.look(ctx, f)
	if err != nil {
		return t.fail(f.output, err)
	}
	status, err := s.Status(ctx, l)
	s.progress.end()
	if err != nil {
		return t.fail(f.output, err)
	}
	return errors.Join(statusCode(status), t.showStatus(f.output, status))
}

// statusCode is the worst of what a status says.
func statusCode(s *reservation.Status) error {
	switch {
	case len(s.Unread) > 0:
		return said(exitUnknown)
	case len(s.Conflicts) > 0:
		return said(exitTaken)
	case len(s.Drift) > 0 || s.Guests.Differs():
		return said(exitDifference)
	}
	return nil
}
