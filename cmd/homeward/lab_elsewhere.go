//go:build !linux

package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func (t *tool) labCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lab",
		Short: "see replies go home on a cluster of network namespaces (Linux only)",
		Args:  cobra.ArbitraryArgs,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("the lab is made of Linux network namespaces: run it on Linux")
		},
		DisableFlagParsing: true,
	}
}
