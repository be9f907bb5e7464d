package guests

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"homeward/agent/ledger"
)

// fake is one guest on one node, with the firewall's API as it was measured: rules
// go to the top and are disabled unless they say otherwise, a member's string is
// made canonical, deleting what does not exist succeeds, a digest that is not the
// part's is refused.
type fake struct {
	Name     string
	Template bool
	Running  bool
	// Frozen keeps a running guest's NICs as they are: no hotplug.
	Frozen          bool
	Config, Current map[string]string
	Options         map[string]string
	Sets            map[string]*fakeSet
	Rules           []map[string]string
	Datacenter      map[string]string

	writes int
	log    []string
	// fault says what happens to the nth request, from zero: the first error before
	// it is made, the second after.
	fault func(n int, method string) (before, after error)
	n     int
	// each is called after each write.
	each func()
}

type fakeSet struct {
	Comment string
	Members []fakeMember
}

type fakeMember struct {
	CIDR, Comment string
	NoMatch       bool
}

const fakeNode, fakeVMID = "pve1", 201

// nic puts a NIC in force.
func (f *fake) nic(key, value string) { f.Config[key], f.Current[key] = value, value }

func (f *fake) at() At { return At{fakeNode, fakeVMID} }

func (f *fake) Get(_ context.Context, path string, params url.Values, out any) error {
	return f.do("GET", path, params, out)
}
func (f *fake) Post(_ context.Context, path string, params url.Values, out any) error {
	return f.do("POST", path, params, out)
}
func (f *fake) Put(_ context.Context, path string, params url.Values, out any) error {
	return f.do("PUT", path, params, out)
}
func (f *fake) Delete(_ context.Context, path string, params url.Values, out any) error {
	return f.do("DELETE", path, params, out)
}

func (f *fake) do(method, path string, params url.Values, out any) error {
	var after error
	if f.fault != nil {
		var before error
		before, after = f.fault(f.n, method)
		f.n++
		if before != nil {
			return before
		}
	}
	if method != "GET" {
		f.writes++
		f.log = append(f.log, method+" "+path+" "+params.Encode())
	}
	answer, err := f.handle(method, path, params)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if method != "GET" && f.each != nil {
		f.each()
	}
	if after != nil {
		return after
	}
	if out == nil {
		return nil
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

func (f *fake) handle(method, path string, params url.Values) (any, error) {
	if path == "/cluster/firewall/options" {
		return f.Datacenter, nil
	}
	rest, ok := strings.CutPrefix(path, fmt.Sprintf("/nodes/%s/qemu/%d/", fakeNode, fakeVMID))
	if !ok {
		return map[string]any{}, nil
	}
	words := strings.Split(rest, "/")
	for i := range words {
		words[i], _ = url.PathUnescape(words[i])
	}
	words = append(words, "", "", "", "")
	switch strings.TrimRight(method+" "+words[0]+"/"+words[1], "/") {
	case "GET status/current":
		return map[string]any{"status": map[bool]string{true: "running", false: "stopped"}[f.Running]}, nil
	case "GET config":
		if params.Get("current") == "1" {
			return f.config(f.Current), nil
		}
		return f.config(f.Config), nil
	case "PUT config":
		return nil, f.putConfig(params)
	case "GET firewall/options":
		out := map[string]any{"digest": digest(f.Options)}
		for k, v := range f.Options {
			out[k] = v
		}
		return out, nil
	case "PUT firewall/options":
		if err := guarded(params, f.Options); err != nil {
			return nil, err
		}
		for k := range params {
			f.Options[k] = params.Get(k)
		}
		delete(f.Options, "digest")
		return nil, nil
	}
	switch words[1] {
	case "ipset":
		return f.sets(method, words[2], words[3], params)
	case "rules":
		return f.rules(method, words[2], params)
	}
	return nil, fmt.Errorf("no such path: %w", ledger.ErrRefused)
}

func digest(v any) string {
	b, _ := json.Marshal(v)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

func guarded(params url.Values, v any) error {
	if d := params.Get("digest"); d != "" && d != digest(v) {
		return fmt.Errorf("detected modified configuration: %w", ledger.ErrStale)
	}
	return nil
}

func (f *fake) config(nics map[string]string) map[string]any {
	out := map[string]any{"name": f.Name, "memory": 4096, "digest": digest(f.Config)}
	for k, v := range nics {
		out[k] = v
	}
	if f.Template {
		out["template"] = 1
	}
	return out
}

func (f *fake) putConfig(params url.Values) error {
	if err := guarded(params, f.Config); err != nil {
		return err
	}
	for k := range params {
		if k == "digest" {
			continue
		}
		f.Config[k] = params.Get(k)
		if !f.Running || !f.Frozen {
			f.Current[k] = params.Get(k)
		}
	}
	return nil
}

// state is everything that must be the same after the same work.
func (f *fake) state() string {
	b, _ := json.MarshalIndent(f, "", " ")
	return string(b)
}

// clone is a guest of its own in the same state.
func (f *fake) clone() *fake {
	b, _ := json.Marshal(f)
	var c fake
	if err := json.Unmarshal(b, &c); err != nil {
		panic(err)
	}
	return &c
}

// has says whether a member stands in a set.
func (f *fake) has(set, cidr string) bool {
	return f.Sets[set] != nil && slices.ContainsFunc(f.Sets[set].Members, func(m fakeMember) bool { return m.CIDR == cidr })
}

var errKilled = errors.New("killed")
