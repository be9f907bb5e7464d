//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
)

// version is set by the linker (-X main.version); a build without it says what
// Go knows of the module.
var version string

func agentVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// runVersion is `homeward-agent version`.
func runVersion(_ context.Context, args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("version", flag.ContinueOnError)
	if code, done := parse(f, args, out, errs); done {
		return code
	}
	if _, err := fmt.Fprintln(out, agentVersion()); err != nil {
		return exitFailed
	}
	return exitDone
}
