package proxmox

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
	"homeward/testenv/pvesim"
)

func TestRights(t *testing.T) {
	r := Rights{
		"/":        {"Sys.Audit": false, "VM.Audit": true},
		"/vms":     {"VM.Audit": true, "VM.Config.Network": false},
		"/vms/113": {"VM.PowerMgmt": true},
		"/pool":    {"Pool.Audit": true},
	}
	for name, c := range map[string]struct {
		path, privilege string
		want            bool
	}{
		"granted here":                        {"/", "Sys.Audit", true},
		"not passed on":                       {"/nodes", "Sys.Audit", false},
		"passed on":                           {"/nodes/pve1", "VM.Audit", true},
		"from the nearest above":              {"/vms/114", "VM.Audit", true},
		"not passed on by the nearest above":  {"/vms/114", "VM.Config.Network", false},
		"replaced further down":               {"/vms/113", "VM.Audit", false},
		"not of the nearest though of others": {"/pool/hw", "VM.Audit", false},
		"below the nearest":                   {"/pool/hw/192.0.2.1", "Pool.Audit", true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := r.Has(c.path, c.privilege); got != c.want {
				t.Errorf("%s on %s: %v", c.privilege, c.path, got)
			}
		})
	}
	t.Run("for all below", func(t *testing.T) {
		lacking := r.Lacking(
			Need{Path: "/vms", Below: true, AnyOf: []string{"VM.Audit"}},
			Need{Path: "/pool", Below: true, AnyOf: []string{"Pool.Audit"}},
			Need{Path: "/", Below: true, AnyOf: []string{"Sys.Audit"}},
			Need{Path: "/vms", AnyOf: []string{"VM.Config.Network", "VM.Else"}},
			Need{Path: "/vms", AnyOf: []string{"A", "B"}},
		)
		var got []string
		for _, n := range lacking {
			got = append(got, n.String())
		}
		if diff := cmp.Diff([]string{"VM.Audit on /vms", "Sys.Audit on /", "A or B on /vms"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRecipe(t *testing.T) {
	scope := Scope{TokenID: "homeward@pve!edge", Ledger: ledgerName, Bridge: "vmbr0", Zone: "dhcp", VNet: "pool", VMIDs: []int{113, 114}}
	golden(t, "recipe-vnet.txt", Recipe(scope))
	scope.Zone, scope.VNet = "", ""
	golden(t, "recipe-bridge.txt", Recipe(scope))
	golden(t, "recipe-empty.txt", Recipe(Scope{}))
}

var (
	roleLine = regexp.MustCompile(`^pveum role add (\S+) --privs (\S+)$`)
	aclLine  = regexp.MustCompile(`^pveum acl modify (\S+) --users \S+ --tokens '(\S+)' --roles (\S+) --propagate ([01])`)
)

// carryOut reads a recipe as the grants that it makes, up to a task's section.
func carryOut(t *testing.T, recipe, until string) []pvesim.Grant {
	t.Helper()
	roles, grants := map[string]string{}, []pvesim.Grant{}
	for line := range strings.Lines(recipe) {
		line = strings.TrimSpace(line)
		if until != "" && strings.HasPrefix(line, "# "+until) {
			break
		}
		if m := roleLine.FindStringSubmatch(line); m != nil {
			roles[m[1]] = m[2]
		} else if m := aclLine.FindStringSubmatch(line); m != nil {
			for _, role := range strings.Split(m[3], ",") {
				if roles[role] == "" {
					t.Errorf("%s grants %s before it is made", line, role)
				}
				grants = append(grants, pvesim.Grant{Path: m[1], Privileges: []string{roles[role]}, Propagate: m[4] == "1"})
			}
		}
	}
	return merged(grants)
}

// merged joins the grants of one path, as the server does with roles.
func merged(grants []pvesim.Grant) []pvesim.Grant {
	var out []pvesim.Grant
	for _, g := range grants {
		at := slices.IndexFunc(out, func(o pvesim.Grant) bool { return o.Path == g.Path && o.Propagate == g.Propagate })
		if at < 0 {
			out = append(out, g)
			continue
		}
		out[at].Privileges = append(out[at].Privileges, g.Privileges...)
	}
	return out
}

// TestRecipeIsEnoughAndNoMore runs each task with the grants of its recipe, and
// looks for each lack when one of them is missing.
func TestRecipeIsEnoughAndNoMore(t *testing.T) {
	scope := Scope{Ledger: ledgerName, Bridge: "vmbr0", Zone: "dhcp", VNet: "pool", VMIDs: []int{113}}
	all := carryOut(t, Recipe(scope), "")
	t.Run("all tasks", func(t *testing.T) {
		sim := furnished(t, pvesim.Options{})
		client := sim.with("pve1", all...)
		rights, err := ReadRights(t.Context(), client)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range Tasks(scope) {
			for _, n := range rights.Lacking(task.Needs...) {
				t.Errorf("%s: the recipe's token lacks %s", task.Name, n)
			}
		}
		s := read(t, client, ReadOptions{Live: true})
		whole := read(t, sim.client("pve1"), ReadOptions{Live: true})
		if diff := cmp.Diff(whole, s, values); diff != "" {
			t.Errorf("the recipe's token reads less: %s", diff)
		}
		set, _ := NewIPSetBook(client, ledgerName)
		pools, _ := NewPoolBook(client, ledgerName, alice)
		ipam, _ := NewIPAM(client, scope.Zone, scope.VNet, alice)
		at := addr("192.0.2.11")
		if err := errors.Join(
			set.Add(t.Context(), at, record(alice, ledger.Pending)),
			pools.Create(t.Context()), pools.Add(t.Context(), at, record(alice, ledger.Pending)),
			pools.Change(t.Context(), at, record(alice, ledger.Held), ""), pools.Remove(t.Context(), at, ""), pools.Drop(t.Context()),
			ipam.Claim(t.Context(), at, false), ipam.Release(t.Context(), at, true),
			client.Put(t.Context(), GuestPath("pve2", "qemu", 113, "config"), map[string][]string{"net1": {"virtio=BC:24:11:00:00:13,bridge=pool,firewall=1"}}, nil),
			client.Get(t.Context(), Path("nodes", "pve2", "firewall", "options"), nil, nil),
		); err != nil {
			t.Error(err)
		}
	})
	t.Run("status alone", func(t *testing.T) {
		sim := furnished(t, pvesim.Options{})
		client := sim.with("pve1", carryOut(t, Recipe(scope), "status --live")...)
		if s := read(t, client, ReadOptions{}); len(s.Unread) > 0 {
			t.Errorf("unread: %v", s.Unread)
		}
		set, _ := NewIPSetBook(client, ledgerName)
		if err := set.Add(t.Context(), addr("192.0.2.11"), record(alice, ledger.Pending)); class(err) != "refused" {
			t.Errorf("a token that reads writes: %v", err)
		}
	})
	for i, g := range all {
		for j, p := range g.Privileges {
			t.Run("without "+p+" on "+g.Path, func(t *testing.T) {
				less := slices.Clone(all)
				less[i].Privileges = slices.Delete(slices.Clone(g.Privileges), j, j+1)
				rights, err := ReadRights(t.Context(), simulate(t, pvesim.Options{}).with("pve1", less...))
				if err != nil {
					t.Fatal(err)
				}
				for _, task := range Tasks(scope) {
					if len(rights.Lacking(task.Needs...)) > 0 {
						return
					}
				}
				t.Error("nobody misses it")
			})
		}
	}
}
