package openstack

import (
	"context"

	"homeward/agent/ledger"
)

// API is what Homeward needs of a cloud; Client is one over the network. Its methods
// make one request each, Read several, and are safe for use by several goroutines.
// They fail with an *Error, in which errors.Is finds one of ledger's errors, or with
// the context's error.
type API interface {
	// Read gives what there is of an owner's cluster, and what has its names.
	Read(ctx context.Context, q Query) (*Actual, error)
	// Quota gives what the project may still make; ErrRefused where the server does
	// not say it to a member.
	Quota(ctx context.Context, project string) (Quota, error)

	CreateNetwork(ctx context.Context, o Object) (Network, error)
	CreateSubnet(ctx context.Context, s Subnet) (Subnet, error)
	// CreateRouter makes one with its gateway on an external network.
	CreateRouter(ctx context.Context, r Router) (Router, error)
	CreateGroup(ctx context.Context, o Object) (Group, error)
	// CreateRules makes all or none of them.
	CreateRules(ctx context.Context, group string, rules []GroupRule) error
	// CreatePort makes one with its pairs, so that it never is without them. It fails
	// with ErrTaken where the network has its address or its MAC.
	CreatePort(ctx context.Context, p Port) (Port, error)
	// CreateFloating makes one on f.NetworkID and puts it on f.PortID, or fails with
	// ErrTaken and makes none where that port has one.
	CreateFloating(ctx context.Context, f FloatingIP) (FloatingIP, error)

	// SetGateway gives a router its gateway on an external network.
	SetGateway(ctx context.Context, router, external string) error
	// Plug puts a router on a subnet, at its gateway's address; Unplug takes it off.
	// To repeat Plug fails with ErrTaken, to repeat Unplug with ErrGone.
	Plug(ctx context.Context, router, subnet string) error
	Unplug(ctx context.Context, router, subnet string) error
	// SetDNS replaces a subnet's name servers.
	SetDNS(ctx context.Context, s Subnet) error
	// ChangePort replaces what c has of a port, unless the port's revision is another
	// by now (ErrStale).
	ChangePort(ctx context.Context, p Port, c PortChange) (Port, error)
	// Associate puts a floating IP on a port, or with an empty port on none, unless its
	// revision is another by now (ErrStale).
	Associate(ctx context.Context, f FloatingIP, port string) (FloatingIP, error)
	Rename(ctx context.Context, kind Kind, id, name string) error
	// SwitchOn ends that an object is off: see Object.Off.
	SwitchOn(ctx context.Context, kind Kind, id string) error
	// Tag and Untag may be repeated.
	Tag(ctx context.Context, kind Kind, id, tag string) error
	Untag(ctx context.Context, kind Kind, id, tag string) error

	// Delete may be repeated: that it is gone is no error. ErrTaken is that something
	// uses it.
	Delete(ctx context.Context, kind Kind, id string) error
}

// Query says what is to be read.
type Query struct {
	Owner ledger.Owner
	// PortNames are looked for in the whole project.
	PortNames []string
	// Attached also reads what uses the owner's routers and groups elsewhere.
	Attached bool
}

// PortChange is what of a port is replaced; what is nil stays. Groups and pairs are
// replaced whole.
type PortChange struct {
	Fixed  []FixedIP
	Groups []string
	Pairs  []Pair
}

// Quota is by kind how many more a project may have; a kind without a limit is not in
// it.
type Quota map[Kind]Room

// Room is one kind's: Limit of it may be there, Used are.
type Room struct{ Limit, Used int }

// query is what has to be read for what is desired.
func (d Desired) query() Query {
	q := Query{Owner: d.Owner}
	for _, p := range d.ports() {
		q.PortNames = append(q.PortNames, p.Name)
	}
	return q
}
