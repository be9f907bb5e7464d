package proxmox

import (
	"fmt"
	"slices"
	"strings"
)

// Scope is what a recipe is for. What is empty stands in the text as a placeholder.
type Scope struct {
	// TokenID is user@realm!name.
	TokenID string
	// Ledger is the name of the segment's record, Bridge what it is on.
	Ledger, Bridge string
	// Zone and VNet where the segment is a VNet with a subnet.
	Zone, VNet string
	// VMIDs are the cluster's own guests.
	VMIDs []int
}

// TaskID names a task for a command line.
type TaskID string

// The tasks. ForSet and ForPools are two ways to do the same.
const (
	ForStatus TaskID = "status"
	ForLive   TaskID = "live"
	ForSet    TaskID = "set"
	ForPools  TaskID = "pools"
	ForIPAM   TaskID = "ipam"
	ForGuests TaskID = "guests"
)

// Task is something a token can be made for.
type Task struct {
	ID TaskID
	// Name is what an operator runs, About why one would want it.
	Name, About string
	Needs       []Need
}

// Tasks are the tasks in the order of what they ask for: each but the pools' adds to
// those before it, and the pools' ledger takes the place of the firewall's.
func Tasks(s Scope) []Task {
	tasks := []Task{
		{ForStatus, "status", "reads only; `reserve --dry-run` takes no more", append(Reading(false), ReadingPools(orPlace(s.Ledger, "LEDGER"))...)},
		{ForLive, "status --live, reserve --live", "asks guest agents as well", Reading(true)[len(Reading(false)):]},
		{ForSet, "reserve, release", "the ledger in the cluster's firewall; the right covers the whole datacenter firewall", WritingSet()},
		{ForPools, "reserve, release without that right", "the ledger in nested resource pools instead; one segment has one kind of ledger", WritingPools(orPlace(s.Ledger, "LEDGER"))},
	}
	if s.VNet != "" {
		tasks = append(tasks, Task{ForIPAM, "reserve, release on a VNet with a subnet", "claims in SDN's IPAM as well", WritingIPAM(orPlace(s.Zone, "ZONE"), s.VNet)})
	}
	network := "localnetwork/" + orPlace(s.Bridge, "BRIDGE")
	if s.VNet != "" {
		network = orPlace(s.Zone, "ZONE") + "/" + s.VNet
	}
	return append(tasks, Task{ForGuests, "reserve --guests", "the cluster's own guests, no others", append(ReadingGuests(), WritingGuests(network, s.VMIDs)...)})
}

func orPlace(name, placeholder string) string {
	if name == "" {
		return placeholder
	}
	return name
}

// Recipe gives the commands that make such a token, for a shell on a Proxmox host:
// one role for each privilege, and each granted to user and token, because a token
// with privilege separation has what both have.
func Recipe(s Scope) string {
	token := orPlace(s.TokenID, "homeward@pve!homeward")
	user, name, _ := strings.Cut(token, "!")
	var b strings.Builder
	fmt.Fprintf(&b, "# The user has no password: it is there for its token. The secret is printed once.\n")
	fmt.Fprintf(&b, "pveum user add %s --comment 'Homeward'\n", user)
	fmt.Fprintf(&b, "pveum user token add %s %s --privsep 1\n", user, name)
	g := granter{user: user, token: token, roles: map[string]bool{}, lines: map[string]bool{}, on: map[string][]string{}}
	for _, t := range Tasks(s) {
		fmt.Fprintf(&b, "\n# %s: %s\n", t.Name, t.About)
		for _, n := range t.Needs {
			g.grant(&b, n)
		}
	}
	b.WriteString("\n# On PVE 8 the guest agents take VM.Monitor instead of VM.GuestAgent.Audit.\n")
	return b.String()
}

// granter writes the commands and remembers what they granted.
type granter struct {
	user, token  string
	roles, lines map[string]bool
	below        []Need              // granted so far, for all below
	on           map[string][]string // privileges by path
}

// grant writes what one need takes. Roles on a path take the place of those that
// come from above, so the ones from there are granted again.
func (g *granter) grant(b *strings.Builder, n Need) {
	privileges := []string{n.AnyOf[0]}
	for _, above := range g.below {
		if !strings.HasPrefix(n.Path, strings.TrimSuffix(above.Path, "/")+"/") {
			continue
		}
		if above.AnyOf[0] == n.AnyOf[0] {
			return // it comes from there
		}
		met := func(p string) bool { return slices.Contains(above.AnyOf, p) }
		if !slices.ContainsFunc(append(g.on[n.Path], privileges...), met) {
			privileges = append(privileges, above.AnyOf[0])
		}
	}
	g.on[n.Path] = append(g.on[n.Path], privileges...)
	propagate := 0
	if n.Below {
		propagate = 1
		g.below = append(g.below, n)
	}
	var roles []string
	for _, p := range privileges {
		role := "Homeward." + p
		roles = append(roles, role)
		if !g.roles[role] {
			g.roles[role] = true
			fmt.Fprintf(b, "pveum role add %s --privs %s\n", role, p)
		}
	}
	line := fmt.Sprintf("pveum acl modify %s --users %s --tokens '%s' --roles %s --propagate %d", n.Path, g.user, g.token, strings.Join(roles, ","), propagate)
	if !g.lines[line] {
		g.lines[line] = true
		fmt.Fprintf(b, "%s # %s\n", line, n.For)
	}
}
