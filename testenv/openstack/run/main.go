//go:build linux

// Command run starts one OpenStack lab, runs a command that finds it in its
// environment, and stops the lab:
//
//	go run ./testenv/openstack/run -- go test -p 1 ./testenv/openstack/... ./agent/openstack/...
//	go run ./testenv/openstack/run -- bash
//
// Its exit code is the command's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"homeward/testenv/openstack"
)

func main() { os.Exit(run()) }

func run() int {
	logs := flag.String("logs", "", "directory for the servers' logs; they go with the lab when empty")
	limit := flag.Duration("limit", 10*time.Minute, "how long the start may take")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: run [-logs DIR] -- COMMAND...")
		return 2
	}
	// The command gets a terminal's signals too, and ends first.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	starting, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	cloud, err := openstack.Start(starting, openstack.Options{Logs: *logs, Progress: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintf(os.Stderr, "openstack lab: for other shells %s=1 %s=%s\n", openstack.WantedVariable, openstack.PlaceVariable, cloud.Place().Dir)
	code := command(ctx, cloud, flag.Args())
	if err := cloud.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// command runs the command and gives its exit code.
func command(ctx context.Context, cloud *openstack.Cloud, args []string) int {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), openstack.WantedVariable+"=1", openstack.PlaceVariable+"="+cloud.Place().Dir)
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
