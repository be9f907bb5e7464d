package explore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"homeward/agent/ledger"
	"homeward/agent/proxmox"
	"homeward/netplan"
	"homeward/testenv/pvesim"
)

// simulate gives a simulator with the record as a scenario begins, and a client of
// each of its nodes.
func simulate(t *testing.T, start ledger.Page, times pvesim.Times) (*pvesim.Sim, []*proxmox.Client) {
	t.Helper()
	sim, err := pvesim.New(pvesim.Options{WithoutLog: true, Times: times})
	if err != nil {
		t.Fatal(err)
	}
	site, err := sim.NewSite()
	if err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, site.CA(), 0o600); err != nil {
		t.Fatal(err)
	}
	id, secret := sim.State().FirstToken()
	var clients []*proxmox.Client
	for _, node := range sim.State().Nodes() {
		server, err := site.Listen("127.0.0.1:0", node)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		client, err := proxmox.New(proxmox.Options{Access: netplan.ProxmoxAccess{
			ProxmoxSpec: netplan.ProxmoxSpec{URL: server.URL(), TLSVerify: ca},
			TokenID:     id, TokenSecret: netplan.NewSecret(secret),
		}})
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, client)
	}
	write(t, sim, start)
	t.Cleanup(func() {
		if unknown := sim.Unknown(); len(unknown) > 0 {
			t.Errorf("the simulator does not know %q", unknown)
		}
	})
	return sim, clients
}

// write puts a record into the simulator.
func write(t *testing.T, sim *pvesim.Sim, page ledger.Page) {
	t.Helper()
	if !page.Exists {
		return
	}
	var members []pvesim.Member
	for _, e := range page.Entries {
		members = append(members, pvesim.Member{CIDR: memberText(e), Comment: e.Comment})
	}
	if err := sim.Change(func(st *pvesim.State) error {
		st.AddSet("cluster", recordName, "", members...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// writePools puts a record into the simulator's resource pools.
func writePools(t *testing.T, sim *pvesim.Sim, page ledger.Page) {
	t.Helper()
	if err := sim.Change(func(st *pvesim.State) error {
		if page.Exists {
			st.AddPool(recordName, "")
		}
		for _, e := range page.Entries {
			// The address's own comment is that of the first claim, so it is pending.
			id := ledger.AddressPool(recordName, e.Prefix.Addr())
			st.AddPool(id, strings.Replace(e.Comment, "state=held", "state=pending", 1))
			if e.Record.State == ledger.Held {
				st.AddPool(id+"/"+e.Record.Owner.ID+"-"+e.Record.Owner.Cluster, e.Comment)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
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
			sim, clients := simulate(t, sc.Start, pvesim.Times{})
			server, err := NewSim(sim, clients[0])
			if err != nil {
				t.Fatal(err)
			}
			if n := len(server.Page(0).Entries); n != len(sc.Start.Entries) {
				t.Fatalf("the scenario begins with %d entries", n)
			}
			sc.Most = enough
			explore(t, server, sc)
			t.Logf("%d states of the server", server.States())
		})
	}
}

// TestEveryOrderOfRequestsToPools is the search over the record in resource pools,
// request by request to the API: what is done late included, since that record is
// made so that this hurts nobody.
func TestEveryOrderOfRequestsToPools(t *testing.T) {
	for _, sc := range scenarios() {
		if slices.ContainsFunc(sc.Start.Entries, func(e ledger.Entry) bool { return !e.Single() }) {
			continue // a pool is of one address
		}
		if len(sc.Processes) > 2 {
			continue // each call is several requests, and three callers too many orders
		}
		t.Run(sc.Name, func(t *testing.T) {
			sim, clients := simulate(t, ledger.Page{}, pvesim.Times{})
			writePools(t, sim, sc.Start)
			server, err := NewPoolSim(sim, clients[0], sc.Processes[0].Owner)
			if err != nil {
				t.Fatal(err)
			}
			sc.Most, sc.Loose = enough, true
			explore(t, server, sc)
			t.Logf("%d states of the server", server.States())
		})
	}
}

// TestManyReserversOnThreeNodes is the race of 24 over the simulator, whose lock is
// held and asked for as on a real server, fifty times as fast.
func TestManyReserversOnThreeNodes(t *testing.T) {
	const faster = 50
	real := pvesim.RealTimes()
	times := pvesim.Times{Write: real.Write / faster, Poll: real.Poll / faster, GiveUp: real.GiveUp / faster}
	for name, open := range map[string]func(*proxmox.Client, ledger.Owner) (ledger.Book, error){
		"firewall set": func(c *proxmox.Client, _ ledger.Owner) (ledger.Book, error) {
			return proxmox.NewIPSetBook(c, recordName)
		},
		"resource pools": func(c *proxmox.Client, o ledger.Owner) (ledger.Book, error) {
			return proxmox.NewPoolBook(c, recordName, o)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, clients := simulate(t, ledger.Page{}, times)
			racers := racers(3)
			books := map[*racer]ledger.Book{}
			for i, r := range racers {
				book, err := open(clients[i%len(clients)], r.owner)
				if err != nil {
					t.Fatal(err)
				}
				books[r] = book
			}
			race(t, racers, func(r *racer) ledger.Book { return books[r] }, time.Second/faster)
			page, err := books[racers[0]].Read(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			winners := 0
			for _, r := range racers {
				checkRacer(t, page, r)
				if r.result.Outcome == ledger.Done {
					winners++
				}
			}
			if winners == 0 {
				t.Error("nobody got its plan")
			}
			t.Logf("%d of %d got their plans", winners, len(racers))
		})
	}
}
