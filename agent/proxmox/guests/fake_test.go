package guests

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
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

func (f *fake) sets(method, name, cidr string, params url.Values) (any, error) {
	switch {
	case name == "" && method == "GET":
		out := []map[string]any{}
		for _, n := range slices.Sorted(maps.Keys(f.Sets)) {
			out = append(out, map[string]any{"name": n, "comment": f.Sets[n].Comment, "digest": digest(f.Sets)})
		}
		return out, nil
	case name == "" && method == "POST":
		return nil, f.makeSet(params)
	case f.Sets[name] == nil:
		return nil, fmt.Errorf("no such IPSet '%s': %w", name, ledger.ErrGone)
	}
	set := f.Sets[name]
	at := slices.IndexFunc(set.Members, func(m fakeMember) bool { return m.CIDR == cidr })
	switch {
	case method == "GET":
		out := []map[string]any{}
		for _, m := range set.Members {
			one := map[string]any{"cidr": m.CIDR, "comment": m.Comment, "digest": digest(set.Members)}
			if m.NoMatch {
				one["nomatch"] = 1
			}
			out = append(out, one)
		}
		return out, nil
	case method == "POST":
		p, ok := literal(params.Get("cidr"))
		if !ok {
			return nil, ledger.ErrRefused
		}
		if slices.ContainsFunc(set.Members, func(m fakeMember) bool { return m.CIDR == canonical(p) }) {
			return nil, fmt.Errorf("address '%s' already exists: %w", p, ledger.ErrTaken)
		}
		set.Members = append(set.Members, fakeMember{CIDR: canonical(p), Comment: params.Get("comment")})
	case cidr != "":
		if err := guarded(params, set.Members); err != nil {
			return nil, err
		}
		if at >= 0 {
			set.Members = slices.Delete(set.Members, at, at+1)
		}
	default:
		if len(set.Members) > 0 && params.Get("force") != "1" {
			return nil, fmt.Errorf("set '%s' is not empty: %w", name, ledger.ErrRefused)
		}
		delete(f.Sets, name)
	}
	return nil, nil
}

func (f *fake) makeSet(params url.Values) error {
	name, from := params.Get("name"), params.Get("rename")
	if from == "" {
		if f.Sets[name] != nil {
			return fmt.Errorf("IPSet '%s' already exists: %w", name, ledger.ErrTaken)
		}
		f.Sets[name] = &fakeSet{Comment: params.Get("comment")}
		return nil
	}
	switch {
	case f.Sets[from] == nil:
		return fmt.Errorf("IPSet '%s' does not exist: %w", from, ledger.ErrGone)
	case f.Sets[name] != nil && name != from:
		return fmt.Errorf("IPSet '%s' does already exist: %w", name, ledger.ErrTaken)
	}
	if err := guarded(params, f.Sets); err != nil {
		return err
	}
	set := f.Sets[from]
	delete(f.Sets, from)
	f.Sets[name] = set
	set.Comment = cmp.Or(params.Get("comment"), set.Comment)
	return nil
}

func (f *fake) rules(method, at string, params url.Values) (any, error) {
	switch {
	case method == "GET":
		out := []map[string]any{}
		for i, r := range f.Rules {
			one := map[string]any{"pos": i, "digest": digest(f.Rules)}
			for k, v := range r {
				one[k] = v
			}
			one["enable"] = r["enable"] == "1"
			out = append(out, one)
		}
		return out, nil
	case method == "POST":
		r := make(map[string]string)
		for k := range params {
			r[k] = params.Get(k)
		}
		delete(r, "pos")
		f.Rules = slices.Insert(f.Rules, 0, r)
		return nil, nil
	}
	pos, err := strconv.Atoi(at)
	if err != nil || pos >= len(f.Rules) || method != "DELETE" {
		return nil, fmt.Errorf("no rule at position %s: %w", at, ledger.ErrRefused)
	}
	if err := guarded(params, f.Rules); err != nil {
		return nil, err
	}
	f.Rules = slices.Delete(f.Rules, pos, pos+1)
	return nil, nil
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

var anywhere = netip.MustParsePrefix("0.0.0.0/0")
