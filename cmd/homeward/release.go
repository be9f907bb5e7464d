package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"homeward/cmd/homeward/internal/ownerid"
	"homeward/cmd/homeward/internal/reservation"
)

// releaseFlags are those of `homeward release`.
type releaseFlags struct {
	lookFlags
	dryRun, partial bool
	owner           string
}

func (t *tool) releaseCommand() *cobra.Command {
	var f releaseFlags
	cmd := &cobra.Command{
		Use:   "release",
		Short: "give back what this cluster owns, nothing else",
		Long: `Give back every address that this cluster owns on its segment, and nothing else.
It can be repeated, also after it was killed. homeward.id stays.

--owner gives back what a dead cluster left: its id, as status and the list of
conflicts show it. First it is looked that nothing on the segment uses its addresses:
guests' configurations, what running guests report, and guests that are called as its
machines. With a source that could not be read, or a guest of which no address is
known, that cannot be said, and nothing is given back (4) unless --allow-partial.

On OpenStack it removes all that reserve made, in the order that Neutron asks for, and
out/allocation.json; a floating IP that the plan names is taken off its port and kept.
While a server uses one of the ports, or a port, router or subnet that is not this
cluster's is on its network, it removes nothing (3).`,
		Example: `  homeward release -f cluster.yaml --dry-run
  homeward release -f cluster.yaml
  homeward release -f cluster.yaml --owner 4f1d0c77a2b95e63`,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.release(cmd.Context(), &f) },
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.dryRun, "dry-run", false, "show each request that would be made, and make none that writes")
	flags.StringVar(&f.owner, "owner", "", "give back what this owner left: ID, or ID/NAME where several clusters have that id")
	flags.BoolVar(&f.partial, "allow-partial", false, "with --owner, although not every source could be read")
	return cmd
}

// noOwner is that nothing can be this cluster's.
func noOwner(file string) error {
	return usage("there is no %s beside %s, so nothing is this cluster's: put back the one of its first reserve, or name the owner with --owner", ownerid.FileName, file)
}

func (t *tool) release(ctx context.Context, f *releaseFlags) error {
	result, err := t.read(&f.lookFlags)
	if err != nil {
		return err
	}
	if result.Plan.OpenStack != nil {
		return t.releaseCloud(ctx, f, result)
	}
	if f.owner != "" && !f.local {
		f.live = true // what is in no configuration a running guest may have
	}
	s, err := t.connect(&f.lookFlags, result)
	if err != nil {
		return err
	}
	if t.linger != nil {
		t.linger(reservation.Linger)
	}
	if f.owner == "" && s.Owner.ID == "" {
		return t.fail(f.output, noOwner(f.file))
	}
	f.anything = true
	l, err := s.look(ctx, &f.lookFlags)
	if err != nil {
		return t.fail(f.output, err)
	}
	report, err := s.Release(ctx, l, reservation.ReleaseOptions{DryRun: f.dryRun, Dead: f.owner, Partial: f.partial})
	s.progress.end()
	if err != nil {
		return t.fail(f.output, err)
	}
	return errors.Join(exitOf(report), t.showReport(f.output, report))
}
