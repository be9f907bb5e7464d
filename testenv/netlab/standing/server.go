//go:build linux

// Package standing keeps a lab for playing: one process holds the namespaces and
// listens on a Unix socket, and others ask it to run programs inside the hosts.
//
// The namespaces have no names and belong to the holder's user namespace, so
// nobody else could enter them. When the holder ends, all of it is gone.
package standing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"homeward/testenv/netlab"
)

// request is what a client sends, in one message, with its standard input,
// output and error as descriptors.
type request struct {
	// Host and Args ask for a program; without Args the holder only answers.
	Host string   `json:"host,omitempty"`
	Args []string `json:"args,omitempty"`
	// Down asks the holder to end.
	Down bool `json:"down,omitempty"`
}

// response ends a request.
type response struct {
	Code  int    `json:"code"`
	Error string `json:"error,omitempty"`
}

// Serve holds the hosts, by the names that clients use, and serves the socket
// until ctx ends or a client asks for the end; that is no error. Programs that
// still run then are killed. A socket that another holder serves is an error; one
// that a dead holder left is replaced. Only this user can connect.
func Serve(ctx context.Context, socket string, hosts map[string]*netlab.Host) error {
	listener, err := listen(ctx, socket)
	if err != nil {
		return fmt.Errorf("holding a lab at %s: %w", socket, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	s := &server{hosts: hosts, end: cancel}
	for {
		conn, err := listener.AcceptUnix()
		if err != nil {
			ended := ctx.Err() != nil
			cancel()
			s.running.Wait()
			if ended {
				return nil
			}
			return fmt.Errorf("holding a lab at %s: %w", socket, err)
		}
		s.running.Go(func() { s.converse(ctx, conn) })
	}
}

type server struct {
	hosts   map[string]*netlab.Host
	end     context.CancelFunc
	running sync.WaitGroup
}

// listen makes the socket for this user alone.
func listen(ctx context.Context, socket string) (*net.UnixListener, error) {
	if err := Down(ctx, socket, false); err == nil {
		return nil, errors.New("another lab is there already")
	}
	if info, err := os.Lstat(socket); err == nil {
		if info.Mode()&fs.ModeSocket == 0 {
			return nil, errors.New("there is a file that is no socket")
		}
		if err := os.Remove(socket); err != nil {
			return nil, err
		}
	}
	// Nobody can connect before Chmod who could not after it: the directory of a
	// private socket is private.
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// converse serves one client: one request, one response.
func (s *server) converse(ctx context.Context, conn *net.UnixConn) {
	defer conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	r, files, err := receive(conn)
	defer closeAll(files)
	if err != nil {
		answer(conn, response{Code: -1, Error: err.Error()})
		return
	}
	switch {
	case r.Down:
		answer(conn, response{})
		s.end()
	case len(r.Args) == 0:
		answer(conn, response{})
	default:
		go func() {
			// A client says nothing more; the read ends when it is gone.
			_, _ = conn.Read(make([]byte, 1))
			cancel()
		}()
		answer(conn, s.run(ctx, r, files))
	}
}

// run runs a client's program with the client's own input and output.
func (s *server) run(ctx context.Context, r request, files []*os.File) response {
	host, ok := s.hosts[r.Host]
	if !ok {
		return response{Code: -1, Error: fmt.Sprintf("no host %q in this lab", r.Host)}
	}
	if len(files) != 3 {
		return response{Code: -1, Error: fmt.Sprintf("%d descriptors came with the request, want 3", len(files))}
	}
	cmd := host.Command(ctx, r.Args[0], r.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[1], files[2]
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return response{}
	case !errors.As(err, &exit):
		return response{Code: -1, Error: err.Error()}
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return response{Code: 128 + int(status.Signal())}
	}
	return response{Code: exit.ExitCode()}
}

func answer(conn *net.UnixConn, r response) {
	// A client that is gone needs no answer.
	_ = json.NewEncoder(conn).Encode(r)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		// Only our copy of the client's descriptor.
		_ = f.Close()
	}
}
