package probe

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
)

// Cause is why an attempt failed. Its text is stable.
type Cause string

// The causes of a failure that counts against the target.
const (
	// CauseTimeout: no answer came in time.
	CauseTimeout Cause = "timeout"
	// CauseRefused: the machine answered, but nothing listens on the port (a
	// reset to a SYN, or for UDP an ICMP error), or a filter rejects it so.
	CauseRefused Cause = "refused"
	// CauseReset: the connection was made and then reset.
	CauseReset Cause = "reset"
	// CauseClosed: the connection was made and ended before the answer.
	CauseClosed Cause = "closed"
	// CauseUnreachable: the host is unreachable, by ICMP, or because nobody on
	// the segment answered ARP.
	CauseUnreachable Cause = "unreachable"
	// CauseNoRoute: this machine has no route, or a router said so.
	CauseNoRoute Cause = "no_route"
	// CauseTLS: the TLS handshake failed.
	CauseTLS Cause = "tls"
	// CauseStatus: the HTTP status was 500 or more.
	CauseStatus Cause = "status"
	// CauseReply: the reply was not HTTP, or not the echo of what was sent.
	CauseReply Cause = "reply"
)

// verdict is what an attempt proves.
type verdict int

const (
	answered verdict = iota
	failed
	// unknown proves nothing: the fault is this machine's.
	unknown
)

// classify says what an error of the network proves. Whatever is not known to
// come from the other side is this machine's own.
func classify(err error) (verdict, Cause) {
	var timeout interface{ Timeout() bool }
	switch {
	case err == nil:
		return answered, ""
	case errors.Is(err, syscall.ECONNREFUSED):
		return failed, CauseRefused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.ECONNABORTED), errors.Is(err, syscall.EPIPE):
		return failed, CauseReset
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.EHOSTDOWN):
		return failed, CauseUnreachable
	case errors.Is(err, syscall.ENETUNREACH):
		return failed, CauseNoRoute
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return failed, CauseClosed
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT):
		return failed, CauseTimeout
	case errors.As(err, &timeout) && timeout.Timeout():
		return failed, CauseTimeout
	}
	return unknown, ""
}

// own gives the reason of this machine's failure, short and equal for equal
// causes.
func own(err error) string {
	var number syscall.Errno
	if !errors.As(err, &number) {
		// Without what differs from one attempt to the next.
		for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
			err = inner
		}
		return err.Error()
	}
	switch number {
	case syscall.EMFILE:
		return "too many open files: raise the limit (ulimit -n), or give fewer targets, a longer interval or a shorter timeout"
	case syscall.ENFILE:
		return "too many open files on this machine"
	case syscall.EADDRNOTAVAIL:
		return "no free local port, or no usable local address: see net.ipv4.ip_local_port_range"
	case syscall.EPERM, syscall.EACCES:
		return "not permitted on this machine: its own firewall or a prohibit route"
	}
	return number.Error()
}
