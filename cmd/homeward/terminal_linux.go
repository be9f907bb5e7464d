package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// terminalWidth gives the columns of a terminal; ok is false for anything else.
func terminalWidth(out io.Writer) (columns int, ok bool) {
	f, isFile := out.(*os.File)
	if !isFile {
		return 0, false
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	const usual = 80 // a terminal that does not know says zero
	if size.Col == 0 {
		return usual, true
	}
	return int(size.Col), true
}
