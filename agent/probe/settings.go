package probe

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Mode is what an attempt does.
type Mode string

// The modes. Certificates are not checked: what is measured is reachability.
const (
	ModeTCP   Mode = "tcp"
	ModeTLS   Mode = "tls"
	ModeHTTP  Mode = "http"
	ModeHTTPS Mode = "https"
	// ModeUDP sends a datagram of 16 bytes and takes only the same bytes as an
	// answer.
	ModeUDP Mode = "udp"
)

// The bounds of a run.
const (
	// HandshakeLimit is the most that a TCP handshake gets: less than the second
	// after which a kernel repeats a SYN.
	HandshakeLimit = 900 * time.Millisecond
	// DefaultInterval and DefaultTimeout are what suits most.
	DefaultInterval = 100 * time.Millisecond
	DefaultTimeout  = HandshakeLimit

	minInterval = time.Millisecond
	maxInterval = time.Hour
	maxTimeout  = time.Minute
	// maxInFlight is how many attempts at one target may be under way.
	maxInFlight = 1000
	// maxRate is the attempts a second of all targets together.
	maxRate = 20_000
)

// Settings is what a run measures.
type Settings struct {
	Targets []Target
	Mode    Mode
	// Interval is from one attempt at a target to the next; the targets' attempts
	// are spread over it. 1 ms to 1 h.
	Interval time.Duration
	// Timeout is how long one attempt may take as a whole, 1 ms to 1 min.
	Timeout time.Duration
	// Duration ends the run; zero is never.
	Duration time.Duration
	// Count ends the run after so many attempts at each target; zero is never.
	Count int
	// ServerName is sent in TLS and as HTTP's Host; empty is the target's own
	// name, and for an address none in TLS.
	ServerName string
	// Path is HTTP's, with its slash; it matters for ModeHTTP and ModeHTTPS only.
	Path string
	// Timeline keeps for each target what a plot needs.
	Timeline bool
}

// Check gives every mistake in the settings, joined.
func (s *Settings) Check() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(s.Targets) == 0 || len(s.Targets) > MaxTargets {
		fault("%d targets: give 1 to %d", len(s.Targets), MaxTargets)
	}
	switch s.Mode {
	case ModeTCP, ModeTLS, ModeHTTP, ModeHTTPS, ModeUDP:
	default:
		fault("mode %q is not known: give tcp, tls, http, https or udp", s.Mode)
	}
	if s.Interval < minInterval || s.Interval > maxInterval {
		fault("interval %v: give %v to %v", s.Interval, minInterval, maxInterval)
	} else if rate := float64(len(s.Targets)) / s.Interval.Seconds(); rate > maxRate {
		needed := time.Duration(len(s.Targets)) * time.Second / maxRate
		fault("interval %v: with %d targets these are %.0f attempts a second, and at most %d can be timed: give at least %v", s.Interval, len(s.Targets), rate, maxRate, needed)
	}
	if s.Timeout < minInterval || s.Timeout > maxTimeout {
		fault("timeout %v: give %v to %v", s.Timeout, minInterval, maxTimeout)
	} else if s.Interval > 0 && s.inFlight() > maxInFlight {
		fault("timeout %v: at an interval of %v up to %d attempts at one target would be under way, and at most %d may: shorten it", s.Timeout, s.Interval, s.inFlight(), maxInFlight)
	}
	if s.Duration < 0 {
		fault("duration %v: give a positive one, or none to probe until interrupted", s.Duration)
	}
	if s.Count < 0 {
		fault("count %d: give a positive one, or none to probe until interrupted", s.Count)
	}
	web := s.Mode == ModeHTTP || s.Mode == ModeHTTPS
	if web && !strings.HasPrefix(s.Path, "/") || web && strings.ContainsFunc(s.Path, func(r rune) bool { return r <= ' ' || r > '~' }) {
		fault("path %q: give one that begins with / and has only printable ASCII", s.Path)
	}
	if s.ServerName != "" && !nameLike(s.ServerName) {
		fault("server name %q is not a name", s.ServerName)
	}
	return errors.Join(errs...)
}

// inFlight is how many attempts at one target can be under way when all hang.
func (s *Settings) inFlight() int { return int(s.Timeout/s.Interval) + 1 }

// descriptors is how many open files a run can need at once, with some for the
// rest of the process.
func (s *Settings) descriptors() uint64 {
	const rest = 64
	return uint64(len(s.Targets))*uint64(s.inFlight()+1) + rest
}
