package explore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"sync"

	"homeward/agent/ledger"
)

// Memory is a ledger.Book in memory for any number of goroutines, and of as many
// clients as use it.
type Memory struct {
	// Delay is called before and after each request; may be nil.
	Delay func()

	mu     sync.Mutex
	page   ledger.Page
	writes int
	// watch is told of each page after a write.
	watch func(ledger.Page)
}

// NewMemory gives a book that begins with start. Watch is called with the record
// after each write, one call at a time; may be nil.
func NewMemory(start ledger.Page, watch func(ledger.Page)) *Memory {
	return &Memory{page: start, watch: watch}
}

// Writes is how many requests have changed the record.
func (m *Memory) Writes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes
}

// Read implements ledger.Book.
func (m *Memory) Read(ctx context.Context) (ledger.Page, error) {
	m.pause()
	defer m.pause()
	m.mu.Lock()
	defer m.mu.Unlock()
	return versioned(m.page), ctx.Err()
}

// versioned gives page with the digest of its content.
func versioned(page ledger.Page) ledger.Page {
	sum := sha256.Sum256([]byte(content(page)))
	page.Version = hex.EncodeToString(sum[:])
	return page
}

// Create implements ledger.Book.
func (m *Memory) Create(ctx context.Context) error {
	return m.do(ctx, ledger.Request{Op: ledger.OpCreate})
}

// Add implements ledger.Book.
func (m *Memory) Add(ctx context.Context, a netip.Addr, r ledger.Record) error {
	return m.do(ctx, ledger.Request{Op: ledger.OpAdd, Address: a, Record: r})
}

// Change implements ledger.Book.
func (m *Memory) Change(ctx context.Context, a netip.Addr, r ledger.Record, version string) error {
	return m.do(ctx, ledger.Request{Op: ledger.OpChange, Address: a, Record: r, Version: version})
}

// Remove implements ledger.Book.
func (m *Memory) Remove(ctx context.Context, a netip.Addr, version string) error {
	return m.do(ctx, ledger.Request{Op: ledger.OpRemove, Address: a, Version: version})
}

// Drop implements ledger.Book.
func (m *Memory) Drop(ctx context.Context) error {
	return m.do(ctx, ledger.Request{Op: ledger.OpDrop})
}

func (m *Memory) do(ctx context.Context, req ledger.Request) error {
	m.pause()
	defer m.pause()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	after, err := Apply(versioned(m.page), req)
	if err != nil {
		return err
	}
	if content(after) != content(m.page) {
		m.writes++
	}
	m.page = after
	if m.watch != nil {
		m.watch(after)
	}
	return nil
}

func (m *Memory) pause() {
	if m.Delay != nil {
		m.Delay()
	}
}
