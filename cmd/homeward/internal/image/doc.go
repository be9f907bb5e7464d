// Package image makes the agent's OCI image and pushes it to a registry, without
// a container engine.
//
// The image holds one file, /homeward-agent, for each platform, in an index with
// all of them. It is a function of the binaries alone: no clock, no user, no host
// name goes into it, so that the same binaries give the same digest on every
// machine. What its labels say of version and revision is read from the binaries
// too. Only another Go release of the tool may compress to other bytes.
//
// Errors say what to do. Those that wrap ErrArgument are mistakes on the command
// line; one that wraps ErrUnknown leaves open whether the registry wrote.
package image

import (
	"errors"
	"fmt"
)

var (
	// ErrArgument marks what the operator gave in a form that cannot be meant.
	ErrArgument = errors.New("wrong argument")
	// ErrUnknown marks a push whose last write was neither confirmed nor refused.
	ErrUnknown = errors.New("it is unknown whether the registry wrote")
)

// marked is an error with a sentinel that errors.Is finds and no reader sees.
type marked struct {
	error
	mark error
}

func (m marked) Unwrap() []error { return []error{m.error, m.mark} }

// argument makes an ErrArgument.
func argument(format string, args ...any) error {
	return marked{fmt.Errorf(format, args...), ErrArgument}
}
