//go:build linux

// Command figures measures the return path's agent against the public alternative
// and against nothing, and the host's agent on a segment, in one run on one machine,
// in network namespaces of its own. Each speed is a ratio, or stands beside what the same run measured of the
// other. It needs bin/homeward-agent (make build) and, for the alternative, nft.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"homeward/testenv/netlab"
)

func main() {
	agent := flag.String("agent", "bin/homeward-agent", "the agent's binary")
	flushes := flag.Int("flushes", 200, "repairs to measure of the agent")
	shellFlushes := flag.Int("shell-flushes", 10, "repairs to measure of the shell loop; each takes up to 30 s")
	restarts := flag.Int("restarts", 50, "restarts under load")
	churn := flag.Int("churn", 10_000, "flushes before memory is read")
	idle := flag.Duration("idle", idleTime, "how long to read the idle agent's CPU")
	only := flag.String("only", "", "segment: measure the host's agent alone")
	flag.Parse()

	code, done, err := netlab.Enter()
	if done {
		os.Exit(code)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := &bench{agent: *agent}
	err = b.segment(ctx)
	if *only != "segment" {
		err = errors.Join(
			err,
			b.repairs(ctx, *flushes, *shellFlushes),
			b.restarts(ctx, *restarts),
			b.throughput(ctx),
			b.footprint(ctx, *churn, *idle),
		)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		stop()
		os.Exit(1)
	}
}
