package explore

import (
	"net/netip"
	"slices"
	"strings"

	"homeward/agent/ledger"
)

// Apply gives the record after a write, as a Proxmox server does it, or one of the
// errors of a Book. It leaves page as it is; the version is not set.
func Apply(page ledger.Page, req ledger.Request) (ledger.Page, error) {
	at := slices.IndexFunc(page.Entries, func(e ledger.Entry) bool {
		return e.Single() && e.Prefix.Addr() == req.Address
	})
	switch req.Op {
	case ledger.OpCreate:
		if page.Exists {
			return page, ledger.ErrTaken
		}
		page.Exists = true
		return page, nil
	case ledger.OpDrop:
		if len(page.Entries) > 0 {
			return page, ledger.ErrTaken
		}
		page.Exists = false
		return page, nil
	case ledger.OpAdd:
		if !page.Exists {
			return page, ledger.ErrGone
		}
		if at >= 0 {
			return page, ledger.ErrTaken
		}
		return with(page, req), nil
	}
	// Without a version the server does as it is told.
	if req.Version != "" && req.Version != page.Version {
		return page, ledger.ErrStale
	}
	if at < 0 && req.Op == ledger.OpChange {
		return page, ledger.ErrGone
	}
	if at >= 0 {
		page.Entries = slices.Delete(slices.Clone(page.Entries), at, at+1)
	}
	if req.Op == ledger.OpChange {
		page = with(page, req)
	}
	return page, nil
}

// with gives page and the entry of an addition or a change.
func with(page ledger.Page, req ledger.Request) ledger.Page {
	e := ledger.NewEntry(netip.PrefixFrom(req.Address, req.Address.BitLen()), req.Record.String())
	page.Entries = append(slices.Clone(page.Entries), e)
	ledger.SortEntries(page.Entries)
	return page
}

// content is the record as text, the same for equal records.
func content(page ledger.Page) string {
	if !page.Exists {
		return "no record"
	}
	var b strings.Builder
	b.WriteString("record")
	for _, e := range page.Entries {
		b.WriteString("\n" + e.Prefix.String() + " " + e.Comment)
	}
	return b.String()
}
