// Command fetch gets Debian's kernel for the virtual machine of the tests, unless
// it is in the cache already, and prints its release.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"

	"homeward/testenv/vm/debian"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := fetch(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "fetch:", err)
		os.Exit(1)
	}
}

func fetch(ctx context.Context) error {
	cache, err := debian.CacheDir()
	if err != nil {
		return err
	}
	kernel, err := debian.Fetch(ctx, cache, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	fmt.Println(kernel.Release)
	return nil
}
