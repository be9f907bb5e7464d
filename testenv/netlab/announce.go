//go:build linux

package netlab

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// announcer answers ARP for addresses of the pool on a node's external NIC, as
// MetalLB's speaker does: by itself, whatever the kernel's routes are.
type announcer struct {
	node   *Node
	cancel context.CancelFunc
	ended  chan struct{}

	mu        sync.Mutex
	addresses map[netip.Addr]bool
	socket    *os.File
}

// announceRetry is how often a missing external NIC is looked for.
const announceRetry = 10 * time.Millisecond

func newAnnouncer(n *Node) *announcer {
	ctx, cancel := context.WithCancel(context.Background())
	a := &announcer{node: n, cancel: cancel, ended: make(chan struct{}), addresses: map[netip.Addr]bool{}}
	go a.run(ctx)
	return a
}

// Announce makes a node, and no other, answer ARP for an address of the pool,
// and tells the network at once.
func (c *Cluster) Announce(address netip.Addr, n *Node) error {
	for _, other := range c.Nodes {
		other.announcer.set(address, other == n)
	}
	return n.announcer.gratuitous(address)
}

// Withdraw makes no node answer for an address any more.
func (c *Cluster) Withdraw(address netip.Addr) {
	for _, n := range c.Nodes {
		n.announcer.set(address, false)
	}
}

func (a *announcer) set(address netip.Addr, announced bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if announced {
		a.addresses[address] = true
	} else {
		delete(a.addresses, address)
	}
}

func (a *announcer) has(address netip.Addr) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.addresses[address]
}

func (a *announcer) close() {
	a.cancel()
	a.mu.Lock()
	if a.socket != nil {
		// The reader ends with an error, which is how it learns of the end.
		_ = a.socket.Close()
	}
	a.mu.Unlock()
	<-a.ended
}

// run answers until the end; when the NIC goes away it waits for the next one.
func (a *announcer) run(ctx context.Context) {
	defer close(a.ended)
	for ctx.Err() == nil {
		socket, err := a.open(ctx)
		if err == nil {
			a.answer(socket)
		}
		select {
		case <-ctx.Done():
		case <-time.After(announceRetry):
		}
	}
}

// open finds the NIC and listens on it.
func (a *announcer) open(ctx context.Context) (*os.File, error) {
	link, err := a.node.externalByMAC()
	if err != nil {
		return nil, err
	}
	socket, err := a.node.packetSocket(link.Attrs().Index, unix.ETH_P_ARP)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), socket.Close())
	}
	a.socket = socket
	return socket, nil
}

// answer replies to requests until the socket fails.
func (a *announcer) answer(socket *os.File) {
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		// Closed twice at the end, which is no fault.
		_ = socket.Close()
		a.socket = nil
	}()
	buffer := make([]byte, 2048)
	for {
		n, from, err := receive(socket, buffer)
		if err != nil {
			return
		}
		p := decode(buffer[:n])
		if p.Protocol != ARP || p.ARPReply || !a.has(p.Destination) {
			continue
		}
		reply := arpFrame(arpReply, a.node.ExternalMAC, p.Destination, p.SenderMAC, p.Source, p.SenderMAC)
		if err := sendFrame(socket, from.Ifindex, reply); err != nil {
			return
		}
	}
}
