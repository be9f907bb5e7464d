//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"homeward/agent/kernel"
	"homeward/agent/returnpath"
)

// runNode is `homeward-agent node`.
func runNode(ctx context.Context, args []string, out, errs io.Writer) int {
	o, code, done := readNodeFlags(args, out, errs)
	if done {
		return code
	}
	log := newLogger(o.logFormat, errs)
	boot, err := kernel.BootTime()
	if err != nil {
		log.Error("starting", "error", err)
		return exitFailed
	}
	k := kernel.New(log)
	agent := returnpath.New(returnpath.Config{
		Settings: o.settings, Kernel: k, Prober: kernel.Prober{},
		Clock: returnpath.SystemClock{Start: time.Now()}, Log: log, Boot: boot, Resync: o.resync,
	})
	switch {
	case o.dryRun:
		return dryRun(ctx, agent, out, log)
	case o.once:
		return once(ctx, agent)
	}
	keepMemorySmall()
	log.Info("keeping the return path", "version", agentVersion(), "external_mac", o.settings.ExternalMAC, "manage", o.settings.Manage)
	serve(ctx, o.listen, handlers{agent: agent, kernel: k, log: log})
	agent.Run(ctx)
	log.Info("ending; everything stays in place")
	return exitDone
}

// dryRun prints the steps, one a line.
func dryRun(ctx context.Context, agent *returnpath.Agent, out io.Writer, log *slog.Logger) int {
	steps, err := agent.Plan(ctx)
	for _, s := range steps {
		fmt.Fprintln(out, s)
	}
	if err != nil {
		log.Error("looking at the node", "error", err)
		return exitUnknown
	}
	if len(steps) == 0 {
		fmt.Fprintln(out, "nothing to do")
	}
	return exitDone
}

// once does a single pass; the pass itself logs what is wrong.
func once(ctx context.Context, agent *returnpath.Agent) int {
	agent.Pass(ctx)
	agent.AskGateway(ctx)
	if !agent.Status().Ready {
		return exitFailed
	}
	return exitDone
}

// keepMemorySmall makes the collector work for a process whose live heap is a
// few megabytes: earlier than by default, and with a soft limit below the pod's.
// GOGC and GOMEMLIMIT still have the last word.
func keepMemorySmall() {
	const percent, limit = 50, 24 << 20
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}

func newLogger(format string, w io.Writer) *slog.Logger {
	if format == logJSON {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}
