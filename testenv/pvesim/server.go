package pvesim

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is a node's endpoint on a socket. It speaks HTTP/1.1 itself, because the
// reason in the status line is part of Proxmox VE's answers and net/http's server
// has its own.
type Server struct {
	sim      *Sim
	node     string
	listener net.Listener
	ca       []byte

	mu    sync.Mutex
	conns map[net.Conn]bool
	ended bool
	group sync.WaitGroup
}

// Site makes endpoints that share a CA.
type Site struct {
	sim       *Sim
	authority *authority
	mu        sync.Mutex
	serial    int64
}

// NewSite makes a CA of its own for a simulator's endpoints.
func (s *Sim) NewSite() (*Site, error) {
	a, err := newAuthority()
	if err != nil {
		return nil, err
	}
	return &Site{sim: s, authority: a, serial: 1}, nil
}

// CA gives the certificate, as PEM, that clients must trust.
func (site *Site) CA() []byte { return site.authority.pem() }

// Listen opens a node's endpoint on an address such as 127.0.0.1:0.
func (site *Site) Listen(address, node string) (*Server, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", address, err)
	}
	site.mu.Lock()
	site.serial++
	serial := site.serial
	site.mu.Unlock()
	cert, err := site.authority.issue(host, serial)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{sim: site.sim, node: node, conns: map[net.Conn]bool{}, ca: site.CA()}
	s.listener = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	s.group.Add(1)
	go s.accept()
	return s, nil
}

// URL is where the endpoint is: https://HOST:PORT.
func (s *Server) URL() string { return "https://" + s.listener.Addr().String() }

// CA gives the certificate, as PEM, that clients must trust.
func (s *Server) CA() []byte { return s.ca }

// Close ends the endpoint, its connections and requests under way, and waits for
// them; a second time it does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return nil
	}
	s.ended = true
	err := s.listener.Close()
	for c := range s.conns {
		err = errors.Join(err, ignoreClosed(c.Close()))
	}
	s.mu.Unlock()
	s.group.Wait()
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (s *Server) accept() {
	defer s.group.Done()
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			s.mu.Lock()
			ended := s.ended
			s.mu.Unlock()
			if ended {
				return
			}
			time.Sleep(10 * time.Millisecond) // no file left, for example
			continue
		}
		s.mu.Lock()
		if s.ended {
			s.mu.Unlock()
			_ = conn.Close() // nobody is there for its error
			return
		}
		s.conns[conn] = true
		s.group.Add(1)
		s.mu.Unlock()
		go s.serve(conn)
	}
}

// serve answers the requests of a connection until either side ends it.
func (s *Server) serve(conn net.Conn) {
	defer s.group.Done()
	defer func() {
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
		_ = conn.Close() // the client may have been first
	}()
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if r.Header.Get("Expect") == "100-continue" {
			if _, err := io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
				return
			}
		}
		if !s.respond(conn, r) {
			return
		}
	}
}

// maxBody is what the real server takes at most, in bytes.
const maxBody = 512 << 10

// respond answers one request, and says whether another can follow.
func (s *Server) respond(conn net.Conn, r *http.Request) bool {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return false
	}
	var out *outbound
	if len(body) > maxBody {
		out = failed(&problem{status: http.StatusNotImplemented, message: "for data too large", bare: true})
	} else {
		out = s.sim.exchange(s.node, &inbound{
			method: r.Method, authorization: r.Header.Get("Authorization"), contentType: r.Header.Get("Content-Type"),
			url: r.URL, body: body, chunked: len(r.TransferEncoding) > 0,
		})
	}
	if out.drop {
		return false
	}
	keep := !r.Close && !out.truncate && len(body) <= maxBody
	return out.write(conn, keep) == nil && keep
}

func (out *outbound) write(w io.Writer, keep bool) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "HTTP/1.1 %d %s\r\n", out.status, out.reason)
	fmt.Fprintf(b, "Server: pve-api-daemon/3.0\r\nContent-Length: %d\r\n", len(out.body))
	if !keep {
		fmt.Fprint(b, "Connection: close\r\n")
	}
	if err := out.header.Write(b); err != nil {
		return err
	}
	fmt.Fprint(b, "\r\n")
	body := out.body
	if out.truncate {
		body = body[:len(body)/2]
	}
	if _, err := b.Write(body); err != nil {
		return err
	}
	return b.Flush()
}
