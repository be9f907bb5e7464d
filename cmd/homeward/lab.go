//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"homeward/testenv/netlab"
)

func (t *tool) labCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "see replies go home on a cluster of network namespaces; try scripts on a simulated Proxmox VE",
		Long: `demo, up, exec and down: a cluster of two nodes with two NICs each, both networks, their gateways, and
clients on the link and behind the router, made of network namespaces. It needs
no root where user namespaces are allowed, touches no network of this machine,
and leaves nothing behind.

proxmox: a simulated Proxmox VE cluster for scripts that reserve addresses.`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, sub := range []*cobra.Command{t.labDemoCommand(), t.labUpCommand(), t.labExecCommand(), t.labDownCommand(), t.labProxmoxCommand()} {
		if sub.Args == nil {
			sub.Args = noArguments
		}
		cmd.AddCommand(sub)
	}
	return cmd
}

// inLab runs f in the lab's namespaces, in a second process of this program. An
// interrupt is passed on to it, and when this returns it has ended with all that
// it started.
func (t *tool) inLab(f func() error) error {
	code, done, err := netlab.Enter()
	switch {
	case err != nil:
		var forbidden *netlab.ForbiddenError
		if errors.As(err, &forbidden) {
			return forbiddenHere(forbidden, os.DirFS("/proc/sys"), os.Args)
		}
		return err
	case done && code == int(exitDone):
		return nil
	case done:
		return said(exitCode(code))
	}
	// Debian keeps nft out of an ordinary user's PATH, and here we are root.
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin"); err != nil {
		return err
	}
	return f()
}

// agentName is the agent's program, which `make build` puts beside this one.
const agentName = "homeward-agent"

// findAgent gives the path of the agent's program, which may be empty for the
// one beside this program.
func findAgent(path string) (string, error) {
	if path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", usage("--agent: %w", err)
		}
		return filepath.Abs(found)
	}
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath(filepath.Join(filepath.Dir(own), agentName))
	if err != nil {
		return "", fmt.Errorf("no %s beside %s: `make build` puts both into bin, or give --agent PATH", agentName, own)
	}
	return found, nil
}

func agentFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "agent", "", "the agent's program (default: homeward-agent beside this one)")
}

// interrupted says whether the operator ended the command.
func interrupted(ctx context.Context) bool { return ctx.Err() != nil }
