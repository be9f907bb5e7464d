package netplan

import "time"

// MarkTable is what the nftables table inet homeward shall do: mark connections
// that come in by one link for some addresses, and their replies.
type MarkTable struct {
	// Interface is the kernel's name of the external link. Empty while it is not
	// known: then no new connection is marked, and replies of marked ones still are.
	Interface string
	// Destinations are merged ranges.
	Destinations AddressSet
	Mark         Mark
	Mask         Mask
}

// ObjectKind is a kind of thing that an nftables table holds.
type ObjectKind string

// The kinds of objects.
const (
	KindTable   ObjectKind = "table"
	KindSet     ObjectKind = "set"
	KindElement ObjectKind = "element"
	KindChain   ObjectKind = "chain"
	KindRule    ObjectKind = "rule"
)

// TableObject is one thing in our table, in normal form: two objects do the
// same when they are equal.
type TableObject struct {
	Kind ObjectKind `json:"kind"`
	// Where is the chain of a rule or the set of an element, else the empty string.
	Where string `json:"where,omitempty"`
	// Text is the object in nft's language, counters left out. What has no such
	// form (foreign rules) has its expressions in brackets.
	Text string `json:"text"`
}

// Stamp says who wrote our table.
type Stamp struct {
	// Start is when the writer started, since the node's boot
	// (CLOCK_BOOTTIME): the wall clock can be set back.
	Start time.Duration
	// Settings is a digest of all that the writer was told.
	Settings [8]byte
}

// Counter is an nftables counter.
type Counter struct {
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
}

// Counters are the three counters of our table.
type Counters struct {
	// Marked counts original packets for our destinations.
	Marked Counter `json:"marked"`
	// Forwarded and Local count replies whose mark was restored: of backends
	// elsewhere (prerouting), and of processes in the node's own network (output).
	Forwarded Counter `json:"forwarded"`
	Local     Counter `json:"local"`
}

// TableListing is our table as the kernel has it.
type TableListing struct {
	// Present is false when there is no such table; then all else is zero.
	Present bool
	// Objects in the order table, sets, elements ascending, chains, rules.
	Objects []TableObject
	// Interface is the link's name in the marking rule, empty when there is none.
	Interface string
	// Stamp is nil when no agent wrote the table (the nft pod did, or a person).
	Stamp    *Stamp
	Counters Counters
}
