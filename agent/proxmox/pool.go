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

// PoolBook is the record of a segment in nested resource pools, for a token that
// may not write the firewall. To read it takes Pool.Audit on /pool/NAME, to write
// it Pool.Allocate.
//
//	hw-vmbr0-1691                                      the record
//	hw-vmbr0-1691/203.0.113.75                         the address, its comment the first record
//	hw-vmbr0-1691/203.0.113.75/0123456789abcdef-edge   the owner, its comment the record since
//
// Making a pool is exclusive, and a pool with another in it cannot be deleted. The
// server has no digest here, so that a delete that comes late, after its sender
// gave up waiting, cannot be told from one that was meant. That is what the third
// level is for. The comment of an address never changes, so the pool belongs to
// whom it names from its making to its deletion; and an owner's pool in it keeps it
// from being deleted. An owner who made that pool and then reads his name in the
// address's comment therefore holds the address until he deletes his own pool. A
// late delete can take away a claim that is still without an owner's pool: then
// Change fails with ErrGone, and its owner begins again.
//
// A pool of another owner within an address that is not his comes from a reserver
// who lost just there. It claims nothing, he deletes it himself, and where he died
// Remove of the address's owner does, and then looks again before it does more: the
// address can have become that other's in between.
type PoolBook struct {
	api   API
	name  string
	owner ledger.Owner
}

var _ ledger.Book = (*PoolBook)(nil)

// NewPoolBook gives the book of that name, as ledger.SetName makes it. Owner is whose
// entries Change and Remove are allowed to touch: nobody else's.
func NewPoolBook(api API, name string, owner ledger.Owner) (*PoolBook, error) {
	if err := mustMatch("a firewall set or pool (lower-case letters, digits, dashes)", name, setName); err != nil {
		return nil, err
	}
	if err := owner.Check(); err != nil {
		return nil, err
	}
	return &PoolBook{api: api, name: name, owner: owner}, nil
}

// pool is a resource pool as the server lists it.
type pool struct {
	ID      string `json:"poolid"`
	Comment Text   `json:"comment"`
}

// claimPool is the pool of an address and those in it.
type claimPool struct {
	entry    ledger.Entry
	children []string // the names on the third level
}

// read gives the claims of the record by address.
func (b *PoolBook) read(ctx context.Context) (claims map[netip.Addr]claimPool, exists bool, err error) {
	var list []pool
	if err := b.api.Get(ctx, Path("pools"), nil, &list); err != nil {
		return nil, false, fmt.Errorf("reading the resource pools: %w", err)
	}
	claims = map[netip.Addr]claimPool{}
	for _, p := range list {
		exists = exists || p.ID == b.name
		if name, address, ok := ledger.ParseAddressPool(p.ID); ok && name == b.name {
			c := claims[address]
			c.entry = ledger.NewEntry(netip.PrefixFrom(address, 32), string(p.Comment))
			claims[address] = c
		}
	}
	for _, p := range list {
		cut := strings.LastIndexByte(p.ID, '/')
		name, address, ok := ledger.ParseAddressPool(p.ID[:max(cut, 0)])
		c, known := claims[address]
		if !ok || name != b.name || !known {
			continue
		}
		c.take(p.ID[cut+1:], string(p.Comment))
		claims[address] = c
	}
	return claims, exists, nil
}

// ownerPool names the pool of an owner within that of an address: by id and name,
// because two clusters can have one id.
func ownerPool(o ledger.Owner) string { return o.ID + "-" + o.Cluster }

// take adds a pool on the third level. It speaks for the claim when it is of the
// owner that the address names.
func (c *claimPool) take(name, comment string) {
	c.children = append(c.children, name)
	if !c.entry.Readable || name != ownerPool(c.entry.Record.Owner) {
		return
	}
	if own := ledger.NewEntry(c.entry.Prefix, comment); own.Readable && own.Record.Owner == c.entry.Record.Owner {
		c.entry = own
	}
}

// Read makes one request. Version is always empty.
func (b *PoolBook) Read(ctx context.Context) (ledger.Page, error) {
	claims, exists, err := b.read(ctx)
	if err != nil {
		return ledger.Page{}, err
	}
	page := ledger.Page{Exists: exists}
	for _, c := range claims {
		page.Entries = append(page.Entries, c.entry)
	}
	ledger.SortEntries(page.Entries)
	return page, nil
}

// Create makes the outer pool.
func (b *PoolBook) Create(ctx context.Context) error {
	return wrap(b.make(ctx, b.name, setComment), "creating the resource pool %s", b.name)
}

// Add makes the address's pool.
func (b *PoolBook) Add(ctx context.Context, address netip.Addr, r ledger.Record) error {
	if err := checkEntry(address, r); err != nil {
		return err
	}
	return wrap(b.make(ctx, ledger.AddressPool(b.name, address), r.String()), "claiming %s in the resource pool %s", address, b.name)
}

// Change writes the record into the owner's pool, with a read before and after:
// ErrGone when the address is not the owner's, or not his any more.
func (b *PoolBook) Change(ctx context.Context, address netip.Addr, r ledger.Record, _ string) error {
	if err := checkEntry(address, r); err != nil {
		return err
	}
	if r.Owner != b.owner {
		return fmt.Errorf("%w: the record of %s is of owner %s, the book of %s", ledger.ErrRefused, address, r.Owner.ID, b.owner.ID)
	}
	if err := b.belongs(ctx, address); err != nil {
		return err
	}
	own := ledger.AddressPool(b.name, address) + "/" + ownerPool(b.owner)
	err := b.make(ctx, own, r.String())
	if errors.Is(err, ledger.ErrTaken) {
		err = b.api.Put(ctx, Path("pools"), url.Values{"poolid": {own}, "comment": {r.String()}}, &nothing{})
	}
	if err != nil {
		return wrap(err, "holding %s in the resource pool %s", address, b.name)
	}
	err = b.belongs(ctx, address)
	switch {
	case errors.Is(err, ledger.ErrGone):
		// The address went to somebody else in between: what we put there is not his.
		return errors.Join(err, b.delete(ctx, own))
	case err != nil:
		return fmt.Errorf("%w: %w", ledger.ErrUnknown, err)
	}
	return nil
}

// belongs is ErrGone unless the address is in the owner's name.
func (b *PoolBook) belongs(ctx context.Context, address netip.Addr) error {
	claims, _, err := b.read(ctx)
	if err != nil {
		return err
	}
	if c, ok := claims[address]; !ok || !c.entry.OwnedBy(b.owner) {
		return fmt.Errorf("%w: %s is not in the name of %s in the resource pool %s", ledger.ErrGone, address, b.owner.ID, b.name)
	}
	return nil
}

// Remove reads, deletes what stands in the address's pool, and then that pool.
// ErrStale when the address is another owner's, or when a pool of another stood in
// it.
func (b *PoolBook) Remove(ctx context.Context, address netip.Addr, _ string) error {
	claims, _, err := b.read(ctx)
	if err != nil {
		return err
	}
	c, ok := claims[address]
	if !ok {
		return nil
	}
	if !c.entry.OwnedBy(b.owner) {
		return fmt.Errorf("%w: %s is not in the name of %s in the resource pool %s", ledger.ErrStale, address, b.owner.ID, b.name)
	}
	id := ledger.AddressPool(b.name, address)
	strangers := 0
	for _, child := range c.children {
		if err := b.delete(ctx, id+"/"+child); err != nil {
			return err
		}
		if child != ownerPool(b.owner) {
			strangers++
		}
	}
	if strangers > 0 {
		return fmt.Errorf("%w: %s had pools of %d others in the resource pool %s", ledger.ErrStale, address, strangers, b.name)
	}
	err = b.delete(ctx, id)
	if errors.Is(err, ledger.ErrTaken) {
		return fmt.Errorf("%w: %w", ledger.ErrStale, err)
	}
	return err
}

// Drop leaves the outer pool where it is, because the server deletes the rights on a
// pool with it, and those are what the token writes with. ErrTaken when it is not
// empty.
func (b *PoolBook) Drop(ctx context.Context) error {
	claims, _, err := b.read(ctx)
	if err == nil && len(claims) > 0 {
		return fmt.Errorf("%w: the resource pool %s has %d addresses", ledger.ErrTaken, b.name, len(claims))
	}
	return err
}

func (b *PoolBook) make(ctx context.Context, id, comment string) error {
	return b.api.Post(ctx, Path("pools"), url.Values{"poolid": {id}, "comment": {comment}}, &nothing{})
}

// delete deletes an empty pool; that it does not exist is no error. The id is in
// the query, for the path of the older call takes no nested pool.
func (b *PoolBook) delete(ctx context.Context, id string) error {
	err := b.api.Delete(ctx, Path("pools"), url.Values{"poolid": {id}}, &nothing{})
	if errors.Is(err, ledger.ErrGone) {
		return nil
	}
	return wrap(err, "deleting the resource pool %s", id)
}
