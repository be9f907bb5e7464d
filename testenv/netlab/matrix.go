//go:build linux

package netlab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// BackendKind is where a service's backend is, seen from the announcing node.
type BackendKind string

// The kinds of backend.
const (
	PodHere   BackendKind = "pod here"
	PodThere  BackendKind = "pod on another node"
	HostHere  BackendKind = "host network here"
	HostThere BackendKind = "host network on another node"
)

// ClientKind is where a client stands.
type ClientKind string

// The kinds of client. Only the one behind the router tells the truth.
const (
	ClientBehind ClientKind = "behind router"
	ClientOnLink ClientKind = "on-link"
)

// Path is the NIC that the replies of one connection left the announcing node by.
type Path string

// The paths.
const (
	PathExternal Path = "external"
	PathPrivate  Path = "private"
	PathBoth     Path = "both"
	// PathWrongSource says that replies left by some NIC with a source address
	// that the client did not ask, so that it cannot know them.
	PathWrongSource Path = "wrong source"
	// PathNone says that the request reached the node and no reply left it.
	PathNone Path = "none"
)

// Cell is one request of the matrix and what came of it.
type Cell struct {
	Backend  BackendKind `json:"backend"`
	Policy   Policy      `json:"policy"`
	Client   ClientKind  `json:"client"`
	Protocol Protocol    `json:"protocol"`
	// Answered says that the client got the whole reply.
	Answered bool `json:"answered"`
	// Path is where the replies left, on the wire.
	Path Path `json:"path"`

	target netip.AddrPort
	source netip.Addr
}

// String is the cell's question, not its answer.
func (c Cell) String() string {
	return fmt.Sprintf("%s, policy %s, client %s, %s", c.Backend, c.Policy, c.Client, c.Protocol)
}

// matrixPort is the first service port of the matrix; each service has its own,
// so that all cells can be asked at once and told apart on the wire.
const matrixPort = 8000

// MatrixServices gives the services of the matrix, announced by a node: every
// backend with policy Cluster, and those of the node itself with Local too.
func (c *Cluster) MatrixServices(announcer *Node) []Service {
	var services []Service
	for _, policy := range []Policy{PolicyCluster, PolicyLocal} {
		for _, n := range c.Nodes {
			if policy == PolicyLocal && n != announcer {
				continue
			}
			for _, host := range []bool{false, true} {
				services = append(services, Service{
					Address: c.Addresses.Pool[0], Port: uint16(matrixPort + len(services)),
					Policy: policy, Node: n.index, HostNetwork: host,
				})
			}
		}
	}
	return services
}

// Matrix announces the pool's first address from a node, asks every service of
// MatrixServices from both clients over TCP and UDP, and watches where the
// replies leave the node. What was served before is no longer.
//
// It fails when a request does not reach the node at all: that is a fault of the
// lab, not of a return path.
func (c *Cluster) Matrix(ctx context.Context, announcer *Node) ([]Cell, error) {
	services := c.MatrixServices(announcer)
	if err := c.Serve(services...); err != nil {
		return nil, err
	}
	if err := c.Announce(c.Addresses.Pool[0], announcer); err != nil {
		return nil, err
	}
	cells := c.cells(services, announcer)
	capture, err := announcer.Capture(ctx, announcer.PrivateLink, announcer.ExternalLink)
	if err != nil {
		return nil, err
	}
	var asking sync.WaitGroup
	for i := range cells {
		asking.Go(func() { cells[i].ask(ctx, c.client(cells[i].Client), announcer, capture) })
	}
	asking.Wait()
	packets, err := capture.Stop(ctx)
	if err != nil {
		return nil, err
	}
	var errs []error
	for i := range cells {
		trace := newTrace(&cells[i], announcer)
		for _, p := range packets {
			trace.add(p)
		}
		cells[i].Path, err = trace.path()
		errs = append(errs, err)
	}
	return cells, errors.Join(errs...)
}

// cells lists the matrix's questions in a fixed order.
func (c *Cluster) cells(services []Service, announcer *Node) []Cell {
	var cells []Cell
	for _, s := range services {
		for _, client := range []ClientKind{ClientBehind, ClientOnLink} {
			for _, p := range []Protocol{TCP, UDP} {
				cells = append(cells, Cell{
					Backend: kindOf(s, announcer), Policy: s.Policy, Client: client, Protocol: p,
					target: netip.AddrPortFrom(s.Address, s.Port), source: c.clientAddress(client),
				})
			}
		}
	}
	return cells
}

func kindOf(s Service, announcer *Node) BackendKind {
	switch {
	case s.Node == announcer.index && s.HostNetwork:
		return HostHere
	case s.Node == announcer.index:
		return PodHere
	case s.HostNetwork:
		return HostThere
	default:
		return PodThere
	}
}

func (c *Cluster) client(kind ClientKind) *Host {
	if kind == ClientBehind {
		return c.Behind
	}
	return c.OnLink
}

func (c *Cluster) clientAddress(kind ClientKind) netip.Addr {
	if kind == ClientBehind {
		return c.Addresses.Behind
	}
	return c.Addresses.OnLink
}

// How long a cell waits: for an answer at most, and after a reply has been seen
// leaving by the NIC that leads nowhere.
const (
	cellTimeout = 5 * time.Second
	cellGrace   = 100 * time.Millisecond
)

// ask makes the cell's request. It gives up early when a reply was seen going
// astray, so that a matrix of failures does not take the sum of its timeouts.
func (c *Cell) ask(ctx context.Context, client *Host, n *Node, capture *Capture) {
	ctx, cancel := context.WithTimeout(ctx, cellTimeout)
	defer cancel()
	var watching sync.WaitGroup
	watching.Go(func() {
		trace := newTrace(c, n)
		if _, err := capture.Wait(ctx, func(p Packet) bool { trace.add(p); return trace.astray() }); err != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(cellGrace):
			cancel()
		}
	})
	c.Answered = client.Request(ctx, c.Protocol, c.target, requestSize) == nil
	cancel()
	watching.Wait()
}
