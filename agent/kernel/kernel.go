//go:build linux

package kernel

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"
)

// Kernel is the network of the namespace that the process is in.
type Kernel struct {
	log *slog.Logger
	// nftOptions are of every connection that writes.
	nftOptions []nftables.ConnOption
	// sysctls is where /proc/sys is.
	sysctls string
}

// New gives the kernel. It opens nothing: missing rights show when it is asked.
func New(log *slog.Logger) *Kernel {
	return &Kernel{log: log, sysctls: "/proc/sys"}
}

// BootTime is how long the node has been up, suspended time included
// (CLOCK_BOOTTIME). Unlike the date nobody can set it back, and all containers of
// a node have the same.
func BootTime() (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0, fmt.Errorf("reading CLOCK_BOOTTIME: %w", err)
	}
	return time.Duration(ts.Nano()), nil
}

// nft opens a connection that lives for one exchange at a time. The library
// sizes its socket's buffers by the batch it sends; without that a flush that the
// kernel has done returns ENOBUFS.
func (k *Kernel) nft() (*nftables.Conn, error) {
	conn, err := nftables.New(k.nftOptions...)
	if err != nil {
		return nil, fmt.Errorf("opening nftables: %w", err)
	}
	return conn, nil
}

// errDone gives the error of a context that has ended, so that no call starts
// after it.
func errDone(ctx context.Context) error { return ctx.Err() }
