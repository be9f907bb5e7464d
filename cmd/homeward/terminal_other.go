//go:build !linux

package main

import "io"

// terminalWidth finds no terminal here: live views are shown on Linux only.
func terminalWidth(io.Writer) (columns int, ok bool) { return 0, false }
