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
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}
