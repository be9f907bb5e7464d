package explore

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"homeward/agent/ledger"
	"homeward/agent/proxmox"
	"homeward/netplan"
	"homeward/testenv/pvesim"
)

const simName = "hw-vmbr0-1691"

// simulate gives a simulator with the record as a scenario begins, and the client
// of one of its nodes.
func simulate(t *testing.T, start ledger.Page) (*pvesim.Sim, *proxmox.Client) {
	t.Helper()
	sim, err := pvesim.New(pvesim.Options{WithoutLog: true})
	if err != nil {
		t.Fatal(err)
	}
	site, err := sim.NewSite()
	if err != nil {
		t.Fatal(err)
	}
	server, err := site.Listen("127.0.0.1:0", "pve1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, site.CA(), 0o600); err != nil {
		t.Fatal(err)
	}
	id, secret := sim.State().FirstToken()
	client, err := proxmox.New(proxmox.Options{Access: netplan.ProxmoxAccess{
		ProxmoxSpec: netplan.ProxmoxSpec{URL: server.URL(), TLSVerify: ca},
		TokenID:     id, TokenSecret: netplan.NewSecret(secret),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if start.Exists {
		var members []pvesim.Member
		for _, e := range start.Entries {
			members = append(members, pvesim.Member{CIDR: memberText(e), Comment: e.Comment})
		}
		if err := sim.Change(func(st *pvesim.State) error {
			st.AddSet("cluster", simName, "", members...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if unknown := sim.Unknown(); len(unknown) > 0 {
			t.Errorf("the simulator does not know %q", unknown)
		}
	})
	return sim, client
}

// memberText is how the server keeps an entry's prefix.
func memberText(e ledger.Entry) string {
	if e.Single() {
		return e.Prefix.Addr().String()
	}
	return e.Prefix.String()
}

// TestEveryOrderOverTheSimulator is the same search over the simulator, through
// the client and the book that talk to a real server.
func TestEveryOrderOverTheSimulator(t *testing.T) {
	t.Parallel()
	for _, sc := range scenarios() {
		t.Run(sc.Name, func(t *testing.T) {
			sim, client := simulate(t, sc.Start)
			book, err := proxmox.NewIPSetBook(client, simName)
			if err != nil {
				t.Fatal(err)
			}
			page, err := book.Read(context.Background())
			if err != nil || len(page.Entries) != len(sc.Start.Entries) {
				t.Fatalf("the scenario begins with %+v (%v)", page, err)
			}
			server := NewSim(sim, book)
			sc.Most = enough
			explore(t, server, sc)
			t.Logf("%d states of the server", server.States())
		})
	}
}
