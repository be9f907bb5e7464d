package proxmox

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"homeward/agent/ledger"
	"homeward/netplan"
	"homeward/testenv/pvesim"
)

// lab is a simulated cluster with an endpoint for each node.
type lab struct {
	*pvesim.Sim
	t    testing.TB
	urls map[string]string
	ca   string
}

// simulate starts one.
func simulate(t testing.TB, o pvesim.Options) *lab {
	t.Helper()
	s, err := pvesim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	site, err := s.NewSite()
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{Sim: s, t: t, urls: map[string]string{}, ca: filepath.Join(t.TempDir(), "ca.pem")}
	if err := os.WriteFile(l.ca, site.CA(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, node := range []string{"pve1", "pve2", "pve3"} {
		server, err := site.Listen("127.0.0.1:0", node)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		l.urls[node] = server.URL()
	}
	t.Cleanup(func() {
		if unknown := s.Unknown(); len(unknown) > 0 {
			t.Errorf("the simulator does not know %q", unknown)
		}
	})
	return l
}

// client gives one with all rights, at a node's endpoint.
func (l *lab) client(node string) *Client {
	id, secret := l.State().FirstToken()
	return l.as(node, id, secret, nil)
}

// as gives a client with another token.
func (l *lab) as(node, id, secret string, change func(*Options)) *Client {
	l.t.Helper()
	o := Options{
		Access: netplan.ProxmoxAccess{
			ProxmoxSpec: netplan.ProxmoxSpec{URL: l.urls[node], TLSVerify: l.ca},
			TokenID:     id, TokenSecret: netplan.NewSecret(secret),
		},
		Timeout: 5 * time.Second,
	}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

// with gives a client whose token has these privileges, each on a path and below.
func (l *lab) with(node string, grants ...pvesim.Grant) *Client {
	l.t.Helper()
	const id = "limited@pve!test"
	if err := l.Change(func(st *pvesim.State) error {
		return st.AddToken(pvesim.Token{ID: id, Secret: theSecret, Grants: grants})
	}); err != nil {
		l.t.Fatal(err)
	}
	return l.as(node, id, theSecret, nil)
}

func grant(path string, privileges ...string) pvesim.Grant {
	return pvesim.Grant{Path: path, Privileges: privileges, Propagate: true}
}

// The segment and the owners of these tests.
const ledgerName = "hw-vmbr0-1691"

var (
	alice = ledger.Owner{ID: "00000000000000aa", Cluster: "alice"}
	bob   = ledger.Owner{ID: "00000000000000bb", Cluster: "bob"}
	since = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

// values are compared whole.
var values = cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}, netplan.Range{})

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func record(o ledger.Owner, state ledger.State) ledger.Record {
	return ledger.Record{Owner: o, Purpose: ledger.ForIngress, State: state, Since: since}
}
