//go:build linux

package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// progress shows on a terminal which step is under way, in one line that is gone
// at the end. Anywhere else it is silent.
type progress struct{ out io.Writer }

const clearLine = "\r\x1b[K"

func newProgress(out io.Writer) progress {
	if f, ok := out.(*os.File); ok {
		if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err == nil {
			return progress{out}
		}
	}
	return progress{io.Discard}
}

func (p progress) step(text string) { fmt.Fprint(p.out, clearLine+text+" ...") }

func (p progress) end() { fmt.Fprint(p.out, clearLine) }
