//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"homeward/agent/kernel"
	"homeward/agent/returnpath"
)

// runCleanup is `homeward-agent cleanup`. It prints what it removed, one a line;
// a node with nothing of ours prints nothing, and that is done too.
func runCleanup(ctx context.Context, args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("cleanup", flag.ContinueOnError)
	routes := f.String("routes", routesCheck, "`WHO` owns rules and routes: with manage those that an agent made go too")
	legacy := f.Bool("legacy", false, "also remove what an earlier return-path scheme left on this node")
	format := f.String("log-format", logText, "`FORMAT` of the log: text or json")
	if code, done := parse(f, args, out, errs); done {
		return code
	}
	var c checker
	c.oneOf("routes", *routes, routesCheck, routesManage)
	c.oneOf("log-format", *format, logText, logJSON)
	if c.report("cleanup", errs) {
		return exitUsage
	}
	log := newLogger(*format, errs)
	removed, err := returnpath.Cleanup(ctx, kernel.New(log), returnpath.CleanupOptions{
		Managed: *routes == routesManage, Legacy: *legacy,
	})
	for _, what := range removed {
		fmt.Fprintln(out, "removed", what)
	}
	if err != nil {
		log.Error("cleaning up", "error", err)
		return exitFailed
	}
	return exitDone
}
