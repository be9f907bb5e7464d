package pvesim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// fileKind is how a state's file is known.
const fileKind = "homeward proxmox simulator state 1"

// ErrNoState says of a file that it is no state at all.
var ErrNoState = errors.New("it is no state of the Proxmox simulator")

// stateFile is a State as JSON.
type stateFile struct {
	Kind     string                `json:"kind"`
	Name     string                `json:"name"`
	Quorate  bool                  `json:"quorate"`
	Nodes    map[string]*Node      `json:"nodes"`
	Guests   map[int]*Guest        `json:"guests"`
	Firewall map[string]string     `json:"firewall"`
	Pools    map[string]Pool       `json:"pools"`
	Tokens   map[string]*Token     `json:"tokens"`
	SDN      map[string]*sdnConfig `json:"sdn"`
	IPAM     map[string]ipamSubnet `json:"ipam"`
}

// MarshalJSON writes the whole state, the tokens' secrets included.
func (st *State) MarshalJSON() ([]byte, error) {
	f := stateFile{Kind: fileKind, Name: st.name, Quorate: st.quorate, Nodes: st.nodes.all(), Guests: st.guests.all(),
		Firewall: map[string]string{}, Pools: st.pools.all(), Tokens: st.tokens.all(), SDN: st.sdn.all(), IPAM: st.ipam.all()}
	for _, scope := range st.firewall.keys() {
		f.Firewall[scope] = st.Firewall(scope)
	}
	return json.Marshal(f)
}

// readStateFile reads a file's parts. A name that no part has is a slip of whoever
// wrote the file by hand; a cluster that says nothing of its quorum has one.
func readStateFile(text []byte) (stateFile, error) {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return stateFile{}, err
	}
	if head.Kind != fileKind {
		return stateFile{}, fmt.Errorf("%w: its kind is %q, not %q", ErrNoState, head.Kind, fileKind)
	}
	f := stateFile{Quorate: true}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return f, dec.Decode(&f)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (st *State) UnmarshalJSON(text []byte) error {
	f, err := readStateFile(text)
	if err != nil {
		return err
	}
	fresh := State{name: f.Name, quorate: f.Quorate}
	for name, n := range f.Nodes {
		if n == nil || n.Name != name {
			return fmt.Errorf("nodes: %s has not that name inside", name)
		}
		fresh.nodes.set(name, n)
	}
	for id, p := range f.Pools {
		fresh.pools.set(id, p)
	}
	for vmid, g := range f.Guests {
		if g == nil || g.VMID != vmid {
			return fmt.Errorf("guests: %d has not that number inside", vmid)
		}
		if err := fresh.AddGuest(*g); err != nil {
			return err
		}
	}
	for scope, text := range f.Firewall {
		fresh.SetFirewall(scope, text)
	}
	for id, t := range f.Tokens {
		if t == nil || t.ID != id {
			return fmt.Errorf("tokens: %s has not that id inside", id)
		}
		if err := fresh.AddToken(*t); err != nil {
			return err
		}
	}
	for _, which := range []string{"config", "running"} {
		s := f.SDN[which]
		if s == nil {
			s = &sdnConfig{}
		}
		fresh.sdn.set(which, s)
	}
	for key, sub := range f.IPAM {
		fresh.ipam.set(key, sub)
	}
	if len(fresh.nodes.all()) == 0 || len(fresh.tokens.all()) == 0 {
		return errors.New("a state has at least one node and one token")
	}
	*st = fresh
	return nil
}

// LoadState reads a state's file; the error wraps fs.ErrNotExist when there is none,
// and ErrNoState when the file is another kind of thing.
func LoadState(path string) (*State, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return nil, fmt.Errorf("%s: %w: it is not a JSON object", path, ErrNoState)
	}
	st := &State{}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(text, st); errors.As(err, &syntax) {
		line := 1 + bytes.Count(text[:syntax.Offset], []byte("\n"))
		return nil, fmt.Errorf("%s: line %d: %w", path, line, err)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return st, nil
}

// Save writes the state's file, for its user's eyes only: at any moment there is
// the old one or the new one, whole.
func (st *State) Save(path string) error {
	text, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		if gone := os.Remove(f.Name()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return fmt.Errorf("saving the state: %w", err)
	}
	return nil
}
