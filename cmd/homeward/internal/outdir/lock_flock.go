//go:build linux || darwin

package outdir

import (
	"errors"
	"os"
	"syscall"
)

// lock waits until no other writer holds dir, and says whether it could: some
// network file systems have no flock. Without, unique names keep two writers from
// harming each other's files, but the tree may be a mixture of both.
func lock(dir string) (unlock func(), held bool) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}, false
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	// Closing gives the lock back, and so does the kernel when we are killed.
	return func() { _ = f.Close() }, err == nil
}
