//go:build !linux

package probe

import "time"

// sleptSinceBoot is not known here; a machine that slept is told from a schedule
// that stood still.
func sleptSinceBoot() time.Duration { return 0 }

// checkDescriptors does not know the limit here; attempts that reach it are the
// probe's own failures.
func checkDescriptors(uint64) error { return nil }
