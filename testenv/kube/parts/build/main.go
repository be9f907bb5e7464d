// Command build makes the programs of the lab, unless they are in the cache, and
// prints where the cache is.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"homeward/testenv/kube/parts"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := build(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func build(ctx context.Context) error {
	if _, err := parts.Ensure(ctx, os.Stderr); err != nil {
		return err
	}
	cache, err := parts.CacheDir()
	if err != nil {
		return err
	}
	fmt.Println(cache)
	return nil
}
