package pvesim

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"sync"
)

// State is all that a cluster knows. The zero value is none: see NewState. Methods
// that change it are for the one who made it, before a Sim has it; a Sim works on
// copies and never changes a State it was given.
type State struct {
	name    string
	quorate bool
	nodes   table[string, *Node]
	guests  table[int, *Guest]
	// firewall files by scope: "cluster", "host/NODE", "guest/VMID".
	firewall table[string, *firewallFile]
	pools    table[string, Pool]
	tokens   table[string, *Token]
	sdn      table[string, *sdnConfig]
	ipam     table[string, ipamSubnet]
}

// Pool is a resource pool; a guest says itself in which it is.
type Pool struct {
	Comment string `json:"comment,omitempty"`
}

// NewState gives the fresh state: nodes pve1 to pve3 with vmbr0 and vmbr1, both
// VLAN-aware, on eno1 and eno2, no guests, and one token that may do all.
func NewState() *State {
	st := &State{name: "homeward-lab", quorate: true}
	for i, name := range []string{"pve1", "pve2", "pve3"} {
		st.nodes.set(name, newNode(name, i+1))
	}
	st.sdn.set("config", &sdnConfig{})
	st.sdn.set("running", &sdnConfig{})
	st.setToken(Token{ID: allTokenID, Secret: allSecret, Grants: []Grant{{Path: "/", Role: "Administrator", Propagate: true}}})
	return st
}

// Clone gives a copy that shares nothing that can change.
func (st *State) Clone() *State {
	return &State{
		name: st.name, quorate: st.quorate,
		nodes: st.nodes.share(), guests: st.guests.share(), firewall: st.firewall.share(),
		pools: st.pools.share(), tokens: st.tokens.share(), sdn: st.sdn.share(), ipam: st.ipam.share(),
	}
}

// Digest is equal for two states exactly when they are Equal.
func (st *State) Digest() string {
	h := sha256.New()
	h.Write([]byte(st.name + "\x00" + strconv.FormatBool(st.quorate)))
	for _, scope := range st.firewall.keys() {
		f, _ := st.firewall.get(scope)
		h.Write([]byte(scope + "\x00" + f.text + "\x00"))
	}
	for _, sum := range [][sha256.Size]byte{st.nodes.digest(), st.guests.digest(), st.pools.digest(), st.tokens.digest(), st.sdn.digest(), st.ipam.digest()} {
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Equal says whether two states are the same in all that the API can show.
func (st *State) Equal(other *State) bool { return st.Digest() == other.Digest() }

// SetQuorate says whether the cluster has a quorum: without one it answers reads
// and refuses writes.
func (st *State) SetQuorate(quorate bool) { st.quorate = quorate }

// AddToken adds a token or replaces the one of that id.
func (st *State) AddToken(t Token) error {
	if err := t.check(); err != nil {
		return err
	}
	st.setToken(t)
	return nil
}

func (st *State) setToken(t Token) {
	t.cache = &sync.Map{}
	st.tokens.set(t.ID, &t)
}

// FirstToken gives the id and secret of the token of a fresh state or, when that
// is gone, of the first by id; both empty when there is none.
func (st *State) FirstToken() (id, secret string) {
	if t, ok := st.tokens.get(allTokenID); ok {
		return t.ID, t.Secret
	}
	for _, id := range st.tokens.keys() {
		t, _ := st.tokens.get(id)
		return t.ID, t.Secret
	}
	return "", ""
}

// guestByName finds a guest by its number as text.
func (st *State) guestByName(vmid string) (*Guest, bool) {
	n, err := strconv.Atoi(vmid)
	if err != nil {
		return nil, false
	}
	return st.guests.get(n)
}

// firewallOf gives a firewall file, an empty one when there is none.
func (st *State) firewallOf(scope string) *firewallFile {
	if f, ok := st.firewall.get(scope); ok {
		return f
	}
	return emptyFirewall
}
