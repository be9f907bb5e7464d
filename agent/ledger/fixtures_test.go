package ledger

import "net/netip"

var (
	goodAddress = netip.MustParseAddr("192.0.2.11")
	widePrefix  = netip.MustParsePrefix("192.0.2.0/28")
)

// addr is short for what every method of a Book takes.
type addr = netip.Addr
