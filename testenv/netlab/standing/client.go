//go:build linux

package standing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// Exec runs a program inside a host of the lab that is held at the socket, with
// the given standard input, output and error, and gives its exit code (128 and
// the signal's number when a signal ended it). When ctx ends the program is
// killed. An error means that the program did not run to its end.
func Exec(ctx context.Context, socket, host string, args []string, in, out, errOut *os.File) (int, error) {
	if len(args) == 0 {
		return 0, errors.New("running a program in the lab: no program named")
	}
	r, err := ask(ctx, socket, request{Host: host, Args: args}, in, out, errOut)
	if err != nil {
		return 0, fmt.Errorf("running %s on %s in the lab: %w", args[0], host, err)
	}
	return r.Code, nil
}

// Down ends the lab that is held at the socket. With end false it only asks
// whether there is one.
func Down(ctx context.Context, socket string, end bool) error {
	if _, err := ask(ctx, socket, request{Down: end}); err != nil {
		return fmt.Errorf("asking the lab at %s: %w", socket, err)
	}
	return nil
}

// ask sends one request and waits for the response.
func ask(ctx context.Context, socket string, r request, files ...*os.File) (response, error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return response{}, err
	}
	defer c.Close()
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return response{}, errors.New("not a Unix socket")
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := send(conn, r, files); err != nil {
		return response{}, err
	}
	var got response
	if err := json.NewDecoder(conn).Decode(&got); err != nil {
		return response{}, errors.Join(ctx.Err(), fmt.Errorf("reading the answer: %w", err))
	}
	if got.Error != "" {
		return response{}, errors.New(got.Error)
	}
	return got, nil
}

// maxRequest is the longest request, in bytes. It is sent in one piece, so that
// the descriptors come with it.
const maxRequest = 64 << 10

func send(conn *net.UnixConn, r request, files []*os.File) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if len(text) > maxRequest {
		return fmt.Errorf("request of %d bytes is longer than %d", len(text), maxRequest)
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	var rights []byte
	if len(fds) > 0 {
		rights = syscall.UnixRights(fds...)
	}
	n, _, err := conn.WriteMsgUnix(text, rights, nil)
	if err == nil && n < len(text) {
		err = fmt.Errorf("request cut to %d of %d bytes", n, len(text))
	}
	return err
}

// receive reads a request; the files are the caller's to close, with an error
// too.
func receive(conn *net.UnixConn) (request, []*os.File, error) {
	text := make([]byte, maxRequest)
	rights := make([]byte, syscall.CmsgSpace(3*4))
	n, rn, _, _, err := conn.ReadMsgUnix(text, rights)
	if err != nil {
		return request{}, nil, fmt.Errorf("reading a request: %w", err)
	}
	files, err := descriptors(rights[:rn])
	if err != nil {
		return request{}, files, err
	}
	var r request
	if err := json.Unmarshal(text[:n], &r); err != nil {
		return request{}, files, fmt.Errorf("reading a request: %w", err)
	}
	return r, files, nil
}

// descriptors takes the files out of a message's rights.
func descriptors(rights []byte) ([]*os.File, error) {
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, fmt.Errorf("reading descriptors: %w", err)
	}
	var files []*os.File
	for i := range messages {
		fds, err := syscall.ParseUnixRights(&messages[i])
		if err != nil {
			return files, fmt.Errorf("reading descriptors: %w", err)
		}
		for _, fd := range fds {
			syscall.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "client"))
		}
	}
	return files, nil
}
