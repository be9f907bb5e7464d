//go:build linux

package netlab

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// errGoexit is what a caller learns of a function that ended its goroutine, as
// t.FailNow does.
var errGoexit = errors.New("function ended its goroutine instead of returning")

// onOwnThread runs f on an operating-system thread that is thrown away
// afterwards, so that f may change the thread's namespaces.
func onOwnThread(f func() error) error {
	result := make(chan error, 1)
	go func() {
		err := errGoexit
		defer func() { result <- err }()
		// Never unlocked: the runtime ends the thread with its goroutine.
		runtime.LockOSThread()
		if unix.Gettid() != os.Getpid() {
			err = f()
			return
		}
		// The main thread cannot be thrown away, and /proc/self shows its
		// namespaces. Sitting on it makes the next goroutine take another.
		err = onOwnThread(f)
		runtime.UnlockOSThread()
	}()
	return <-result
}
