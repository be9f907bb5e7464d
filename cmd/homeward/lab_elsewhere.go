//go:build !linux

package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func (t *tool) labCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "see replies go home on a cluster of network namespaces (Linux only); try scripts on a simulated Proxmox VE",
		Args:  cobra.ArbitraryArgs,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("the lab is made of Linux network namespaces: run it on Linux")
		},
		DisableFlagParsing: true,
	}
	proxmox := t.labProxmoxCommand()
	proxmox.Args = noArguments
	cmd.AddCommand(proxmox)
	return cmd
}
