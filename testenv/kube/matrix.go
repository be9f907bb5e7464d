//go:build linux

package kube

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"homeward/testenv/netlab"
)

// Cell is one request to a Service and what came of it.
type Cell struct {
	Service  Service
	Client   netlab.ClientKind
	Protocol netlab.Protocol

	// Announcer is the machine on whose external NIC the request arrived, empty
	// when it arrived on none.
	Announcer string
	// Answered says that the client got the reply.
	Answered bool
	// Path is where the replies left the announcer, on the wire.
	Path netlab.Path
}

// String is the question, with the backend seen from the announcer.
func (c Cell) String() string {
	kind := "pod"
	if c.Service.HostNetwork {
		kind = "host network"
	}
	place := "there"
	if c.Service.Backend == c.Announcer {
		place = "here"
	}
	return fmt.Sprintf("%s %s, policy %s, client %s, %s", kind, place, c.Service.Policy, c.Client, c.Protocol)
}

// Matrix asks every Service from both clients over TCP and UDP, all at once, and
// watches on both NICs of both machines. The announcer of policy Cluster is
// MetalLB's choice, so backends are on both machines.
func (l *Lab) Matrix(ctx context.Context) ([]Cell, error) {
	var cells []Cell
	for _, s := range l.Services() {
		for _, client := range []netlab.ClientKind{netlab.ClientBehind, netlab.ClientOnLink} {
			for _, p := range []netlab.Protocol{netlab.TCP, netlab.UDP} {
				cells = append(cells, Cell{Service: s, Client: client, Protocol: p})
			}
		}
	}
	return l.ask(ctx, cells)
}

// WaitServed waits until every request of the matrix arrives on a machine and a
// backend answers it, wherever the reply goes then: MetalLB announces, Pods are
// ready, kube-proxy knows them.
func (l *Lab) WaitServed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return WaitFor(ctx, "every service", func(ctx context.Context) error {
		cells, err := l.Matrix(ctx)
		for _, c := range cells {
			if err == nil && (c.Announcer == "" || c.Path == netlab.PathNone) {
				err = fmt.Errorf("%s over %s: asked on %q, no reply", c.Service.Name, c.Protocol, c.Announcer)
			}
		}
		return err
	})
}

// askTimeout is how long a client waits. What is answered at all is answered in
// milliseconds; a SYN is repeated once.
const askTimeout = 2500 * time.Millisecond

// ask makes the cells' requests at once and fills in what came of them.
func (l *Lab) ask(ctx context.Context, cells []Cell) ([]Cell, error) {
	captures := make([]*netlab.Capture, len(l.Machines))
	for i, m := range l.Machines {
		var err error
		if captures[i], err = m.Capture(ctx, m.PrivateLink, m.ExternalLink); err != nil {
			return nil, err
		}
	}
	var asking sync.WaitGroup
	for i := range cells {
		asking.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, askTimeout)
			defer cancel()
			c := &cells[i]
			host, _ := l.client(c.Client)
			c.Answered = host.Request(ctx, c.Protocol, c.Service.Target(), netlab.SmallestReply) == nil
		})
	}
	asking.Wait()
	var errs []error
	for i, m := range l.Machines {
		packets, err := captures[i].Stop(ctx)
		errs = append(errs, err)
		for j := range cells {
			_, source := l.client(cells[j].Client)
			cells[j].see(m, source, packets)
		}
	}
	return cells, errors.Join(errs...)
}

// client gives a client and its address.
func (l *Lab) client(kind netlab.ClientKind) (*netlab.Host, netip.Addr) {
	if kind == netlab.ClientBehind {
		return l.Net.Behind, l.Net.Addresses.Behind
	}
	return l.Net.OnLink, l.Net.Addresses.OnLink
}

// see takes in what one machine's NICs saw, unless the request did not come to
// that machine.
func (c *Cell) see(m *Machine, client netip.Addr, packets []netlab.Packet) {
	asked := map[uint16]bool{}
	for _, p := range packets {
		if !p.Leaving && p.Link == m.ExternalLink && p.Protocol == c.Protocol && p.Source == client &&
			p.Destination == c.Service.Address && p.DestinationPort == c.Service.Port {
			asked[p.SourcePort] = true
		}
	}
	if len(asked) == 0 {
		return
	}
	c.Announcer = m.Name
	var external, private, foreign bool
	for _, p := range packets {
		switch {
		case !p.Leaving || p.Protocol != c.Protocol || p.Destination != client || !asked[p.DestinationPort]:
		case p.Source != c.Service.Address:
			foreign = true
		case p.SourcePort != c.Service.Port:
		case p.Link == m.ExternalLink:
			external = true
		default:
			private = true
		}
	}
	switch {
	case external && private:
		c.Path = netlab.PathBoth
	case external:
		c.Path = netlab.PathExternal
	case private:
		c.Path = netlab.PathPrivate
	case foreign:
		c.Path = netlab.PathWrongSource
	default:
		c.Path = netlab.PathNone
	}
}
