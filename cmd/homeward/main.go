// Command homeward gives a Talos Linux cluster with two NICs per machine its
// ingress addresses from one address plan: it checks cluster.yaml, and writes
// what Talos, MetalLB, Traefik and Argo CD need so that every reply leaves by
// the NIC its request came in by.
//
// Standard output is only what was asked for; everything else goes to standard
// error. The exit codes are a contract: see exit.go.
package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// grace is how long a command may take to clean up after a signal, where it does not
// ask for more.
const grace = 3 * time.Second

func main() {
	var longer atomic.Int64
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// What waits for something that does not come (a pipe, a lock) does not look at
	// the context: it is ended all the same, after a time to clean up.
	context.AfterFunc(ctx, func() {
		stop() // a second signal ends it at once
		time.AfterFunc(max(grace, time.Duration(longer.Load())), func() { os.Exit(int(exitFailed)) })
	})
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr,
		linger: func(d time.Duration) { longer.Store(int64(d)) }})
	stop()
	os.Exit(code)
}
