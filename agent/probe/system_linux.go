package probe

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// sleptSinceBoot is the difference of two clocks of which one stands still while
// the machine sleeps. The order matters: whoever is kept from running between the
// two reads too little, and never a sleep that was none. Zero where the clocks
// cannot be read.
func sleptSinceBoot() time.Duration {
	var awake, all unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &all) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil {
		return 0
	}
	return time.Duration(all.Nano() - awake.Nano())
}

// checkDescriptors refuses a run that could need more open files than this
// process may have.
func checkDescriptors(needed uint64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("reading the limit of open files: %w", err)
	}
	if limit.Cur < needed {
		return fmt.Errorf("%w: if every attempt hangs, %d files are open at once, and this process may have %d: raise the limit (ulimit -n), or give fewer targets, a longer interval or a shorter timeout", ErrTooFewFiles, needed, limit.Cur)
	}
	return nil
}
