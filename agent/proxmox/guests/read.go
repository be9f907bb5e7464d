package guests

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"homeward/agent/ledger/inventory"
	"homeward/agent/proxmox"
)

// At is where a guest is.
type At struct {
	Node string
	VMID int
}

func (at At) path(below ...string) string {
	return proxmox.GuestPath(at.Node, string(inventory.QEMU), at.VMID, below...)
}

// The parts of a guest that are read by themselves.
type part int

const (
	partConfig part = iota
	partOptions
	partSets
	partRules
)

// Read reads a guest: five requests, and one for each set that filters a NIC. It
// fails where any of it could not be read: what is not known is never taken for
// absent.
func Read(ctx context.Context, api proxmox.API, at At) (Actual, error) {
	a := Actual{Node: at.Node, VMID: at.VMID}
	var status struct {
		Status scalar `json:"status"`
	}
	if err := api.Get(ctx, at.path("status", "current"), nil, &status); err != nil {
		return Actual{}, fmt.Errorf("reading VM %d on %s: %w", at.VMID, at.Node, err)
	}
	// What is not known to be stopped is treated as running: that is what is
	// careful.
	a.Running = status.Status != "stopped"
	for _, p := range []part{partConfig, partOptions, partSets, partRules} {
		if err := a.read(ctx, api, p); err != nil {
			return Actual{}, err
		}
	}
	return a, nil
}

// read reads one part again.
func (a *Actual) read(ctx context.Context, api proxmox.API, p part) (err error) {
	switch p {
	case partConfig:
		err = a.readConfig(ctx, api)
	case partOptions:
		err = a.readOptions(ctx, api)
	case partSets:
		err = a.readSets(ctx, api)
	case partRules:
		err = a.readRules(ctx, api)
	}
	if err != nil {
		return fmt.Errorf("reading VM %d on %s: %w", a.VMID, a.Node, err)
	}
	return nil
}

func (a *Actual) at() At { return At{Node: a.Node, VMID: a.VMID} }

func (a *Actual) readConfig(ctx context.Context, api proxmox.API) error {
	var with, current map[string]scalar
	if err := api.Get(ctx, a.at().path("config"), nil, &with); err != nil {
		return err
	}
	if err := api.Get(ctx, a.at().path("config"), url.Values{"current": {"1"}}, &current); err != nil {
		return err
	}
	a.Name, a.Digest = string(with["name"]), string(with["digest"])
	a.Template = truth(string(with["template"]))
	a.Config, a.Current = onlyNICs(with), onlyNICs(current)
	return nil
}

func onlyNICs(config map[string]scalar) map[string]string {
	out := make(map[string]string)
	for key, value := range config {
		if _, ok := nicIndex(key); ok {
			out[key] = string(value)
		}
	}
	return out
}

func (a *Actual) readOptions(ctx context.Context, api proxmox.API) error {
	options, err := readOptions(ctx, api, a.at().path("firewall", "options"))
	if err != nil {
		return err
	}
	a.OptionsDigest = options["digest"]
	delete(options, "digest")
	a.Options = options
	return nil
}

func readOptions(ctx context.Context, api proxmox.API, path string) (map[string]string, error) {
	var raw map[string]scalar
	if err := api.Get(ctx, path, nil, &raw); err != nil {
		return nil, err
	}
	out := make(map[string]string, len(raw))
	for key, value := range raw {
		out[key] = string(value)
	}
	return out, nil
}

func (a *Actual) readSets(ctx context.Context, api proxmox.API) error {
	var list []struct {
		Name    string `json:"name"`
		Comment string `json:"comment"`
		Digest  string `json:"digest"`
	}
	if err := api.Get(ctx, a.at().path("firewall", "ipset"), nil, &list); err != nil {
		return err
	}
	a.Sets, a.SetsDigest = make(map[string]Set), ""
	for _, s := range list {
		a.SetsDigest = s.Digest
		key, ok := strings.CutPrefix(strings.TrimPrefix(s.Name, "homeward-"), "ipfilter-")
		if _, isNIC := nicIndex(key); !ok || !isNIC {
			continue
		}
		set, err := a.readSet(ctx, api, s.Name)
		if err != nil {
			return err
		}
		set.Comment = s.Comment
		a.Sets[s.Name] = set
	}
	return nil
}

func (a *Actual) readSet(ctx context.Context, api proxmox.API, name string) (Set, error) {
	var list []struct {
		CIDR    string `json:"cidr"`
		Comment string `json:"comment"`
		NoMatch scalar `json:"nomatch"`
		Digest  string `json:"digest"`
	}
	if err := api.Get(ctx, a.at().path("firewall", "ipset", name), nil, &list); err != nil {
		return Set{}, err
	}
	var set Set
	for _, m := range list {
		set.Digest = m.Digest
		set.Members = append(set.Members, inventory.Member{CIDR: m.CIDR, Comment: m.Comment, NoMatch: truth(string(m.NoMatch))})
	}
	return set, nil
}

func (a *Actual) readRules(ctx context.Context, api proxmox.API) error {
	var list []map[string]scalar
	if err := api.Get(ctx, a.at().path("firewall", "rules"), nil, &list); err != nil {
		return err
	}
	a.Rules, a.RulesDigest = nil, ""
	for i, r := range list {
		pos, err := strconv.Atoi(string(r["pos"]))
		if err != nil || pos != i {
			return fmt.Errorf("rule %d of the guest's firewall says it is at %q", i, r["pos"])
		}
		a.RulesDigest = string(r["digest"])
		a.Rules = append(a.Rules, Rule{
			Pos: pos, Type: string(r["type"]), Action: string(r["action"]), Enable: truth(string(r["enable"])),
			Iface: string(r["iface"]), Source: string(r["source"]), Dest: string(r["dest"]), Macro: string(r["macro"]),
			Proto: string(r["proto"]), SPort: string(r["sport"]), DPort: string(r["dport"]), ICMPType: string(r["icmp-type"]),
			Log: string(r["log"]), Comment: string(r["comment"]),
		})
	}
	return nil
}

// scalar is a value that the server writes as a string or as a number, the same
// one now so and now so.
type scalar string

// UnmarshalJSON takes a string, a number, a boolean or null.
func (s *scalar) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		return json.Unmarshal(b, (*string)(s))
	case '{', '[':
		// Some keys of a configuration are structures; none that is read here.
		*s = ""
	case 'n':
		*s = ""
	case 't':
		*s = "1"
	case 'f':
		*s = "0"
	default:
		*s = scalar(b)
	}
	return nil
}
