package ledger

import "net/netip"

var (
	goodAddress = netip.MustParseAddr("192.0.2.11")
	widePrefix  = netip.MustParsePrefix("192.0.2.0/28")
)
