package proxmox

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"homeward/agent/ledger"
)

// setComment tells the operator who meets the set in the web interface.
const setComment = "Homeward: who holds which address of this segment. One member each; edit none by hand"

// IPSetBook is the record of a segment in a set of the cluster's firewall: one
// member for each address. The set is in no rule, so that it filters nothing. To
// read it takes Sys.Audit on /, to write it Sys.Modify.
//
// Adding is test-and-set on the member's text, under a lock of the whole cluster;
// Change and Remove are guarded by the digest of the members.
type IPSetBook struct {
	api  API
	name string
}

var _ ledger.Book = (*IPSetBook)(nil)

// NewIPSetBook gives the book of that name, as ledger.SetName makes it.
func NewIPSetBook(api API, name string) (*IPSetBook, error) {
	if err := mustMatch("a firewall set (lower-case letters, digits, dashes)", name, setName); err != nil {
		return nil, err
	}
	return &IPSetBook{api: api, name: name}, nil
}

// member is one line of a set as the server gives it.
type member struct {
	CIDR    string `json:"cidr"`
	Comment string `json:"comment"`
	NoMatch Flag   `json:"nomatch"`
	Digest  string `json:"digest"`
}

// Read makes one request, and a second for the cluster's aliases where somebody put
// one into the set. An alias that does not exist stands for no address. Version is
// empty while the set is: then there is nothing to guard.
func (b *IPSetBook) Read(ctx context.Context) (ledger.Page, error) {
	var members []member
	err := b.api.Get(ctx, b.path(), nil, &members)
	if errors.Is(err, ledger.ErrGone) {
		return ledger.Page{}, nil
	}
	if err != nil {
		return ledger.Page{}, fmt.Errorf("reading the firewall set %s: %w", b.name, err)
	}
	page := ledger.Page{Exists: true}
	var aliases map[string]netip.Prefix
	for _, m := range members {
		page.Version = m.Digest
		prefix, ok := parsePrefix(m.CIDR)
		if !ok {
			if aliases == nil {
				if aliases, err = readAliases(ctx, b.api); err != nil {
					return ledger.Page{}, fmt.Errorf("reading the firewall's aliases for the set %s: %w", b.name, err)
				}
			}
			if prefix, ok = aliases[aliasName(m.CIDR)]; !ok {
				continue
			}
		}
		page.Entries = append(page.Entries, ledger.NewEntry(prefix, m.Comment))
	}
	ledger.SortEntries(page.Entries)
	return page, nil
}

// Create makes the empty set.
func (b *IPSetBook) Create(ctx context.Context) error {
	err := b.api.Post(ctx, Path("cluster", "firewall", "ipset"), url.Values{"name": {b.name}, "comment": {setComment}}, &nothing{})
	return wrap(err, "creating the firewall set %s", b.name)
}

// Add makes the member of one address.
func (b *IPSetBook) Add(ctx context.Context, address netip.Addr, r ledger.Record) error {
	if err := checkEntry(address, r); err != nil {
		return err
	}
	err := b.api.Post(ctx, b.path(), url.Values{"cidr": {address.String()}, "comment": {r.String()}}, &nothing{})
	return wrap(err, "claiming %s in the firewall set %s", address, b.name)
}

// Change replaces the member's comment.
func (b *IPSetBook) Change(ctx context.Context, address netip.Addr, r ledger.Record, version string) error {
	if err := checkEntry(address, r); err != nil {
		return err
	}
	params := guarded(version)
	params.Set("comment", r.String())
	err := b.api.Put(ctx, b.path(address.String()), params, &nothing{})
	return wrap(err, "changing the claim of %s in the firewall set %s", address, b.name)
}

// Remove deletes the member. The server says done of a member that it does not
// have, so that only a later Read shows that it is gone.
func (b *IPSetBook) Remove(ctx context.Context, address netip.Addr, version string) error {
	if err := mustBeAddress(address); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrRefused, err)
	}
	err := b.api.Delete(ctx, b.path(address.String()), guarded(version), &nothing{})
	if errors.Is(err, ledger.ErrGone) {
		return nil
	}
	return wrap(err, "giving up %s in the firewall set %s", address, b.name)
}

// Drop deletes the set when it is empty, which the server looks at under its lock:
// ErrTaken when it is not. That it does not exist is no error.
func (b *IPSetBook) Drop(ctx context.Context) error {
	err := b.api.Delete(ctx, b.path(), nil, &nothing{})
	if errors.Is(err, ledger.ErrGone) {
		return nil
	}
	return wrap(err, "deleting the firewall set %s", b.name)
}

func (b *IPSetBook) path(below ...string) string {
	return Path(append([]string{"cluster", "firewall", "ipset", b.name}, below...)...)
}

func guarded(version string) url.Values {
	if version == "" {
		return url.Values{}
	}
	return url.Values{"digest": {version}}
}

// checkEntry refuses what the server would take and keep in another way.
func checkEntry(address netip.Addr, r ledger.Record) error {
	if err := errors.Join(mustBeAddress(address), r.Check()); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrRefused, err)
	}
	return nil
}

// wrap says what was being done; nil stays nil.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}

// parsePrefix reads a member that is an address or a network; not ok for an alias.
func parsePrefix(text string) (netip.Prefix, bool) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err == nil
}

// aliasName is the cluster-wide alias that a member names: "dc/office" or "office".
// The server keeps aliases in lower case.
func aliasName(text string) string {
	return strings.ToLower(strings.TrimPrefix(text, "dc/"))
}

// alias is a named address of the firewall as the server gives it.
type alias struct {
	Name    string `json:"name"`
	CIDR    string `json:"cidr"`
	Comment string `json:"comment"`
}

func readAliases(ctx context.Context, api API) (map[string]netip.Prefix, error) {
	var list []alias
	if err := api.Get(ctx, Path("cluster", "firewall", "aliases"), nil, &list); err != nil {
		return nil, err
	}
	out := make(map[string]netip.Prefix, len(list))
	for _, a := range list {
		if p, ok := parsePrefix(a.CIDR); ok {
			out[strings.ToLower(a.Name)] = p
		}
	}
	return out, nil
}
