package verify

import (
	"errors"
	"fmt"

	"homeward/cmd/homeward/internal/report/kube"
)

// check is one question to a snapshot. Its look is pure.
type check struct {
	id, title, why string
	look           func(*Snapshot, *notes)
}

// checks are all of them, in the order in which they are shown. IDs are kept for ever.
func checks() []check {
	var all []check
	for _, some := range [][]check{nodeChecks(), podChecks(), versionChecks(), metallbChecks(), announceChecks(), serviceChecks(), forwardChecks(), apiChecks(), recordChecks()} {
		all = append(all, some...)
	}
	return all
}

// Entry is a check as a list of them shows it.
type Entry struct{ ID, Title string }

// Catalogue lists all checks, in the order in which they are made.
func Catalogue() []Entry {
	var list []Entry
	for _, c := range checks() {
		list = append(list, Entry{c.id, c.title})
	}
	return list
}

// Check makes all checks. Those named in allowed may be unknown.
func Check(s *Snapshot, allowed map[string]bool) Report {
	r := Report{
		Format: Format, Cluster: s.Plan.Name, Server: s.Server, Taken: s.Taken.UTC(),
		Counts: map[Result]int{Pass: 0, Warn: 0, Fail: 0, Unknown: 0, Skipped: 0}, Checks: []Finding{},
	}
	for _, c := range checks() {
		var n notes
		c.look(s, &n)
		f := n.finding(c)
		if m, ok := meaningOnOpenStack[c.id]; ok && s.onOpenStack() {
			f.Title, f.Why = m.title, m.why
		}
		f.Allowed = f.Result == Unknown && allowed[c.id]
		r.Counts[f.Result]++
		r.Checks = append(r.Checks, f)
	}
	return r
}

// need gives what a source has; where it could not be read the check is unknown.
func need[T any](n *notes, r Read[T]) (T, bool) {
	if r.Err == nil {
		return r.Value, true
	}
	n.unknown("%s", plain(r.Err.Error()))
	switch {
	case errors.Is(r.Err, kube.ErrForbidden):
		n.remedy("give the user the rights that verify needs, or use the account that it makes", "homeward verify --rbac | kubectl apply -f -")
	case errors.Is(r.Err, kube.ErrAbsent):
		n.remedy("install what the plan rests on, MetalLB first, then verify again", "")
	default:
		n.remedy("look at the connection to the API server, then verify again", "kubectl get --raw /readyz")
	}
	return r.Value, false
}

// apply is the remedy of what differs from a machine's generated config.
func (s *Snapshot) apply(n *notes, machine string) {
	n.remedy("apply the machine's config, made by generate --base (see "+s.Out+"/README.md)",
		fmt.Sprintf("talosctl apply-config --nodes %s --file %s/machines/%s.yaml --mode no-reboot", machine, s.Out, machine))
}

// regenerate is the remedy of MetalLB's objects that differ from the plan's.
func (s *Snapshot) regenerate(n *notes) {
	n.remedy("apply the plan's objects", fmt.Sprintf("homeward generate -f %s --out %s && kubectl apply -f %s/kubernetes/metallb.yaml", s.File, s.Out, s.Out))
}
