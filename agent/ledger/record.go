package ledger

import "time"

// Owner is who holds an address: two clusters of one name have different ids, and
// one id with another name is somebody else too.
type Owner struct {
	// ID is made at the first reserve and kept in homeward.id: 16 lower-case
	// hexadecimal digits.
	ID string `json:"id"`
	// Cluster is the plan's name.
	Cluster string `json:"cluster"`
}

// Purpose is what an address is reserved for.
type Purpose string

// The purposes.
const (
	ForIngress Purpose = "ingress"
	ForKubeAPI Purpose = "kubeapi"
)

// State is how far a reservation is.
type State string

// The states: a pending entry is given up again when another address of the same
// plan turns out to be taken, a held one is not.
const (
	Pending State = "pending"
	Held    State = "held"
)

// Record is what an entry's comment says.
type Record struct {
	Owner   Owner   `json:"owner"`
	Purpose Purpose `json:"for"`
	State   State   `json:"state"`
	// Since is when the address was claimed, in whole seconds, UTC.
	Since time.Time `json:"since"`
	// Extra are words of a later version, kept as they are, in their order.
	Extra []string `json:"extra,omitempty"`
}
