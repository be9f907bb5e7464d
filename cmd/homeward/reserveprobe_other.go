//go:build !linux

package main

import (
	"context"

	"homeward/cmd/homeward/internal/reservation"
)

// askSegment says that only Linux can ask.
func (t *tool) askSegment(_ context.Context, _ *site, l *reservation.Look, _ string) {
	l.Deaf("it can be asked on Linux only: run it on a Proxmox host")
}
