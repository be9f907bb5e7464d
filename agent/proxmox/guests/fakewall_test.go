package guests

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"homeward/agent/ledger"
)

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
	if err := guarded(params, f.Rules); err != nil {
		return nil, err
	}
	pos, err := strconv.Atoi(at)
	if err != nil || pos >= len(f.Rules) || method != "DELETE" {
		return nil, fmt.Errorf("no rule at position %s: %w", at, ledger.ErrRefused)
	}
	f.Rules = slices.Delete(f.Rules, pos, pos+1)
	return nil, nil
}
