package verify

import (
	"cmp"

	"homeward/cmd/homeward/internal/reservation"
)

func recordChecks() []check {
	return []check{
		{"reservation", "the addresses are reserved with the provider",
			"what is not reserved another cluster may take; what another has already answers for somebody else",
			reserved},
	}
}

func reserved(s *Snapshot, n *notes) {
	r := s.Reservation
	status := "homeward status -f " + s.File
	switch {
	case s.Plan.External == nil && !s.onOpenStack():
		n.skip("the plan has no external network")
		return
	case !r.Asked && s.onOpenStack():
		n.unknown("no credential for OpenStack is given, so it was not asked")
		n.remedy("give one (secrets.yaml, OS_CLOUD or OS_*), or --allow-unknown reservation", "")
		return
	case !r.Asked:
		n.unknown("no token for Proxmox is given, so it was not asked")
		n.remedy("give a token (secrets.yaml or the environment), or --allow-unknown reservation", "homeward proxmox permissions -f "+s.File+" --for status")
		return
	case r.Err != nil:
		n.unknown("%s", plain(r.Err.Error()))
		n.remedy("see what the provider says", status)
		return
	case s.onOpenStack():
		allocated(s, n)
		return
	}
	st := r.Status
	for _, u := range st.Unread {
		n.unknown("%s: %s", plain(u.Source), plain(u.Reason))
		n.remedy("see what Proxmox says, and what the token lacks", status)
	}
	for _, t := range st.Conflicts {
		n.fail("%s (%s): %s", t.Address, t.For, plain(t.Source))
		n.remedy(cmp.Or(plain(t.Remedy), "see who has it"), status)
	}
	ours := 0
	for _, x := range st.Reservations {
		if x.Ours {
			ours++
		}
	}
	if ours == 0 && st.Owner.ID == "" && len(st.Drift) > 0 {
		n.warn("nothing is reserved for this cluster")
		n.remedy("reserve the addresses", "homeward reserve -f "+s.File)
	} else {
		drifted(s, n, st)
	}
	if st.Guests != nil && st.Guests.Differs() {
		n.warn("the cluster's own guests differ from the plan: NICs, filters or firewalls")
		n.remedy("see what is to be done", status)
	}
	n.saw("%s reserved for %s", plural(ours, "address"), s.Plan.Name)
}

func drifted(s *Snapshot, n *notes, st *reservation.Status) {
	for _, d := range st.Drift {
		n.fail("%s: %s", d.Address, plain(d.Message))
		n.remedy("reserve again: what is new is claimed, then what is old given back", "homeward reserve -f "+s.File)
	}
}
