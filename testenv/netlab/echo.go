//go:build linux

package netlab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// The lab's own small protocol, over TCP and UDP alike: a request is an id and
// the size that the reply shall have; the reply is the request again, filled up
// to that size.
const (
	requestSize = 12
	// SmallestReply is the least that a reply can have, in bytes.
	SmallestReply = requestSize
	// maxReplySize keeps a reply inside one UDP datagram.
	maxReplySize = 60000
)

func encodeRequest(id uint64, replySize int) []byte {
	b := binary.BigEndian.AppendUint64(nil, id)
	return binary.BigEndian.AppendUint32(b, uint32(replySize))
}

// replyTo gives the reply to a request, nil when it is none.
func replyTo(request []byte) []byte {
	if len(request) != requestSize {
		return nil
	}
	size := binary.BigEndian.Uint32(request[8:])
	if size < requestSize || size > maxReplySize {
		return nil
	}
	reply := make([]byte, size)
	copy(reply, request)
	return reply
}

// EchoServer answers the lab's requests on one TCP and UDP port of a host, on
// every address (a wildcard socket, as most servers have it).
type EchoServer struct {
	listener net.Listener
	packets  net.PacketConn
	running  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]bool
}

// StartEcho starts a server; when it returns requests are answered.
func StartEcho(h *Host, port uint16) (*EchoServer, error) {
	address := fmt.Sprintf("0.0.0.0:%d", port)
	listener, err := h.Listen("tcp4", address)
	if err != nil {
		return nil, fmt.Errorf("starting echo server on %s: %w", h.name, err)
	}
	packets, err := h.ListenPacket("udp4", address)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting echo server on %s: %w", h.name, err), listener.Close())
	}
	s := &EchoServer{listener: listener, packets: packets, conns: map[net.Conn]bool{}}
	s.running.Add(2)
	go s.accept()
	go s.answer()
	return s, nil
}

// Close stops the server and its connections.
func (s *EchoServer) Close() error {
	err := errors.Join(s.listener.Close(), s.packets.Close())
	s.mu.Lock()
	s.closed = true
	for c := range s.conns {
		// The peer may have closed it first.
		_ = c.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
	return err
}

func (s *EchoServer) accept() {
	defer s.running.Done()
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		if !s.adopt(c) {
			_ = c.Close()
			return
		}
		go s.converse(c)
	}
}

// adopt takes a connection on, unless the server has been closed meanwhile.
func (s *EchoServer) adopt(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[c] = true
	s.running.Add(1)
	return true
}

// converse answers one TCP connection's requests in turn.
func (s *EchoServer) converse(c net.Conn) {
	defer s.running.Done()
	defer func() {
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
		_ = c.Close()
	}()
	request := make([]byte, requestSize)
	for {
		if _, err := io.ReadFull(c, request); err != nil {
			return
		}
		reply := replyTo(request)
		if reply == nil {
			return
		}
		if _, err := c.Write(reply); err != nil {
			return
		}
	}
}

// answer serves UDP. An error that is not the end (a refused earlier reply) does
// not stop it.
func (s *EchoServer) answer() {
	defer s.running.Done()
	buffer := make([]byte, requestSize+1)
	for {
		n, from, err := s.packets.ReadFrom(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if reply := replyTo(buffer[:n]); err == nil && reply != nil {
			// A reply that cannot be sent is a lost one; the client counts it.
			_, _ = s.packets.WriteTo(reply, from)
		}
	}
}

// Ports of the backends and of the API behind the VIP.
const (
	podBackendPort  = 8080
	hostBackendPort = 8081
	// VIPPort is where every node's own network answers for the Kubernetes API.
	VIPPort = 6443
)

func (c *Cluster) startBackends() error {
	start := func(h *Host, port uint16) error {
		s, err := StartEcho(h, port)
		if err == nil {
			c.servers = append(c.servers, s)
		}
		return err
	}
	for _, n := range c.Nodes {
		err := inOrder(
			func() error { return start(n.Pod, podBackendPort) },
			func() error { return start(n.Host, hostBackendPort) },
			func() error { return start(n.Host, VIPPort) },
		)
		if err != nil {
			return err
		}
	}
	return nil
}
