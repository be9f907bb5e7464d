package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"homeward/agent/proxmox/guests"
	"homeward/cmd/homeward/internal/ownerid"
	"homeward/cmd/homeward/internal/reservation"
)

// reserveFlags are those of `homeward reserve`.
type reserveFlags struct {
	lookFlags
	dryRun, partial     bool
	guests, allowReplug bool
	probe               bool
	interfaceName       string
	wait                time.Duration
}

const reserveLong = `Look who claims an address of the plan on its segment, and when nobody does,
claim the ingress pool and the API's VIP there.

What is looked at: the NICs and addresses of all guests, running or not, node
interfaces, SDN subnets, DHCP ranges and IPAM, firewall sets and aliases, and what
other clusters have reserved. With any conflict nothing is claimed, all of them are
listed, and the exit code is 3. A source that could not be read is unknown, never
empty: then nothing is claimed either (4), unless --allow-partial.

The claims stand in the segment's record: a set of the cluster's firewall that no
rule uses, one member per address, owner and purpose in its comment; where the token
may not write the firewall, nested resource pools. Claiming is one test-and-set per
address, so that of any number of clusters and operators at most one has an address,
and one of them gets all of its plan. It can be repeated at any time, also after it
was killed, and brings the claims to the plan: new ones first, then what the plan no
longer has is given back. The owner's id is made at the first reserve and kept in
homeward.id beside cluster.yaml: keep it in version control.

--probe also asks on the segment itself, by ARP, who has an address. It needs to run
on the segment, best on a Proxmox host, as root: on the plan's bridge and VLAN, or on
--interface. Silence counts only when the gateway was seen to answer meanwhile: a host
that is not there, or a guest behind an ipfilter, hears nothing and proves nothing, and
then nothing is claimed (4).

The record binds those who use Homeward. Everyone else is seen, not stopped.

--guests also changes the cluster's own VMs, and no others: NICs on the right bridge
and tag, ipfilter sets through which the announcements pass, and the allowlists of
security: as rules of the guests' firewalls. What would re-plug a running VM's NIC is
left alone without --allow-replug; datacenter, node firewalls and bridges always are,
and the command to run is shown.

On OpenStack it allocates instead: network, subnet, router on external_net, security
group, one port per machine, and for the API and the ingress a port with a fixed IP and
a floating IP each, which control planes and workers may send from. What is missing is
made, then what the plan has no more is removed, but for a port that a server uses.
Whose an object is stands in its description. What only has the cluster's name, or an
address that somebody else has, is listed, and nothing is changed (3). A floating IP
that the plan names is adopted. The addresses are kept in --out as allocation.json, for
generate. It takes the role member in the project, and an application credential in
secrets.yaml, or OS_CLOUD, or OS_*.`

func (t *tool) reserveCommand() *cobra.Command {
	var f reserveFlags
	cmd := &cobra.Command{
		Use:   "reserve",
		Short: "look for conflicts, then claim the pool and the VIP",
		Long:  reserveLong,
		Example: `  homeward reserve -f cluster.yaml --dry-run
  homeward reserve -f cluster.yaml
  homeward reserve -f cluster.yaml --guests
  homeward reserve -f cluster.yaml --out out             # on OpenStack
  homeward reserve -f cluster.yaml -o json | jq '.conflicts[]'`,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.reserve(cmd.Context(), &f) },
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.dryRun, "dry-run", false, "show each request that would be made, and make none that writes")
	flags.BoolVar(&f.partial, "allow-partial", false, "claim although not every source could be read")
	flags.StringArrayVar(&f.accept, "accept", nil, "a firewall name or IPAM entry that may stay, as the list of conflicts names it; repeatable")
	flags.BoolVar(&f.guests, "guests", false, "also bring the cluster's own VMs to the plan")
	flags.BoolVar(&f.allowReplug, "allow-replug", false, "with --guests, also what re-plugs a running VM's NIC")
	flags.BoolVar(&f.probe, "probe", false, "also ask on the segment itself who has an address; it must be reachable from here")
	flags.StringVar(&f.interfaceName, "interface", "", "with --probe, the interface that is on the segment; by default the plan's bridge and VLAN")
	flags.DurationVar(&f.wait, "wait", 30*time.Second, "how long to wait for another reservation that is under way")
	return cmd
}

func (t *tool) reserve(ctx context.Context, f *reserveFlags) error {
	switch {
	case f.wait <= 0 || f.wait > time.Hour:
		return usage("--wait %s: give a time up to an hour, like 30s", f.wait)
	case f.interfaceName != "" && !f.probe:
		return usage("--interface is about --probe: give both, or neither")
	case f.allowReplug && !f.guests:
		return usage("--allow-replug is about --guests: give both, or neither")
	}
	result, err := t.read(&f.lookFlags)
	if err != nil {
		return err
	}
	if result.Plan.OpenStack != nil {
		return t.reserveCloud(ctx, f, result)
	}
	s, err := t.connect(&f.lookFlags, result)
	if err != nil {
		return err
	}
	if t.linger != nil {
		t.linger(reservation.Linger)
	}
	s.Patience = f.wait
	l, err := s.look(ctx, &f.lookFlags)
	if err != nil {
		return t.fail(f.output, err)
	}
	if f.probe {
		t.askSegment(ctx, s, l, f.interfaceName)
	}
	s.MakeOwner = func() error { return t.makeOwner(s, f.file) }
	if f.dryRun && s.Owner.ID == "" {
		t.log.Info("no " + ownerid.FileName + " yet: the first reserve makes the owner's id, here it is zeros")
	}
	report, err := s.Reserve(ctx, l, reservation.ReserveOptions{DryRun: f.dryRun, Partial: f.partial})
	s.progress.end()
	if err != nil {
		return t.fail(f.output, err)
	}
	code := exitOf(report)
	if f.guests && (report.Outcome == reservation.Reserved || report.Outcome == reservation.Rehearsed) {
		var work error
		report.Guests, work = t.guests(ctx, s, l, f)
		if work != nil {
			report.Error = work.Error()
			code = said(codeOf(work))
		}
	}
	return errors.Join(code, t.showReport(f.output, report))
}

// makeOwner gives the owner an id and keeps it.
func (t *tool) makeOwner(s *site, file string) (err error) {
	s.Owner.ID, err = t.obtainOwner(file)
	return err
}

// obtainOwner gives the id that is kept beside a plan, and makes one where there is
// none.
func (t *tool) obtainOwner(file string) (string, error) {
	id, made, err := ownerid.Obtain(filepath.Dir(file))
	if err != nil {
		return "", err
	}
	if made {
		t.log.Info("made " + filepath.Join(filepath.Dir(file), ownerid.FileName) + ": keep it in version control, it says whose these reservations are")
	}
	return id, nil
}

// guests changes the cluster's own guests, or says what would be changed.
func (t *tool) guests(ctx context.Context, s *site, l *reservation.Look, f *reserveFlags) (*reservation.GuestWork, error) {
	defer s.progress.end()
	if f.dryRun {
		work, err := s.GuestsDiffer(ctx, l)
		return work, outcomeOf(err)
	}
	work, err := s.ChangeGuests(ctx, l, guests.Options{AllowReplug: f.allowReplug})
	return work, outcomeOf(err)
}

// exitOf is the code of how a reservation ended; its text has been said.
func exitOf(r *reservation.Report) error {
	switch r.Outcome {
	case reservation.InUse:
		return said(exitTaken)
	case reservation.Partial, reservation.Unknown:
		return said(exitUnknown)
	case reservation.Failed:
		return said(exitFailed)
	}
	return nil
}
