//go:build linux

// Command homeward-agent is the program in the static pod: `node` keeps the
// return path of one node, `status` asks a running agent, `cleanup` removes what
// is ours. On a Proxmox host `host` watches who has which address of the segment.
//
// It reads flags only, and writes what it has to say to standard error; standard
// output is for what was asked for (steps, a status, a version).
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes that this program uses, as `homeward help exit-codes` has them.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitTaken   = 3
	exitUnknown = 4
)

// command is one subcommand; run gives the exit code.
type command struct {
	name, short string
	run         func(ctx context.Context, args []string, out, errs io.Writer) int
}

func commands() []command {
	return []command{
		{"node", "keep the return path of this node", runNode},
		{"status", "ask the agent that runs here", runStatus},
		{"cleanup", "remove the return path from this node", runCleanup},
		{"host", "watch who answers on the external segment, from a Proxmox host", runHost},
		{"version", "print the version", runVersion},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run does what the command line says.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	if len(args) == 0 {
		usage(errs)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(out)
		return exitDone
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], out, errs)
		}
	}
	fmt.Fprintf(errs, "homeward-agent: there is no command %q\n", args[0])
	usage(errs)
	return exitUsage
}

func usage(w io.Writer) {
	fmt.Fprint(w, "Usage: homeward-agent COMMAND [FLAGS]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-8s %s\n", c.name, c.short)
	}
	fmt.Fprint(w, "\n`homeward-agent COMMAND -h` lists the flags. Exit codes: 0 done, 1 failed,\n2 the command line is wrong, 3 an address is taken, 4 unknown.\n")
}
