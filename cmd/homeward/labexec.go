//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"homeward/testenv/netlab"
	"homeward/testenv/netlab/standing"
)

func (t *tool) labExecCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "exec [HOST -- COMMAND [ARGUMENT]...]",
		Short: "run a program inside a host of the lab; alone, list the hosts",
		Long: `Run a program inside a host of the lab that "homeward lab up" keeps, with this
command's input and output. The exit code is the program's, 128 and the signal's
number when a signal ended it. Without a program the hosts are listed.`,
		Example: `  homeward lab exec
  homeward lab exec node1 -- ip rule
  homeward lab exec router -- tcpdump -ni external`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return t.labExec(cmd.Context(), args) },
	}
}

func (t *tool) labExec(ctx context.Context, args []string) error {
	dir := labDir()
	if !dir.answers(ctx) {
		return errors.New("no lab is up: homeward lab up")
	}
	switch len(args) {
	case 0:
		return t.printHosts(dir)
	case 1:
		return usage("no program to run on %s: homeward lab exec %s -- COMMAND", args[0], args[0])
	}
	hosts, err := dir.readHosts()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(hosts, func(h host) bool { return h.Name == args[0] }) {
		return usage("no host %q in this lab: homeward lab exec lists them", args[0])
	}
	in, okIn := t.inherited.in.(*os.File)
	out, okOut := t.inherited.out.(*os.File)
	errOut, okErr := t.inherited.err.(*os.File)
	if !okIn || !okOut || !okErr {
		return errors.New("a program in the lab needs files for its input and output")
	}
	code, err := standing.Exec(ctx, dir.socket(), args[0], args[1:], in, out, errOut)
	if err != nil || code == 0 {
		return err
	}
	return said(exitCode(code))
}

func (t *tool) labDownCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "end the lab that lab up keeps",
		Long:  `End the lab and wait until all of it is gone. Without a lab this does nothing.`,
		RunE:  func(cmd *cobra.Command, _ []string) error { return t.labDown(cmd.Context(), labDir()) },
	}
}

// downTimeout is how long a lab may take to end.
const downTimeout = 10 * time.Second

func (t *tool) labDown(ctx context.Context, dir stateDir) error {
	err := dir.own()
	if errors.Is(err, fs.ErrNotExist) {
		t.log.Info("no lab is up")
		return nil
	}
	if err != nil {
		return err
	}
	if err := standing.Down(ctx, dir.socket(), true); err != nil {
		release, claimErr := dir.claim()
		if claimErr != nil {
			return fmt.Errorf("the lab does not answer; it may be on its way up: %w", err)
		}
		t.log.Info("no lab is up; removed what a killed one had left")
		return release()
	}
	for deadline := time.Now().Add(downTimeout); time.Now().Before(deadline); {
		// The directory goes last.
		if _, err := os.Lstat(string(dir)); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return fmt.Errorf("the lab has not ended within %s: see %s", downTimeout, dir)
}

// printHosts lists the hosts of the lab that is up.
func (t *tool) printHosts(dir stateDir) error {
	hosts, err := dir.readHosts()
	if err != nil {
		return err
	}
	rows := [][]string{{"HOST", "WHAT", "ADDRESSES"}}
	for _, h := range hosts {
		rows = append(rows, []string{h.Name, h.What, h.Addresses})
	}
	b := t.page()
	table(b, rows)
	_, err = fmt.Fprint(t.out, b.String())
	return err
}

// describeHosts says what the hosts of a cluster are, by the names of
// Cluster.Hosts.
func describeHosts(c *netlab.Cluster) []host {
	a := c.Addresses
	hosts := []host{
		{"behind", "client behind the external router", a.Behind.String()},
		{"onlink", "client on the external network", a.OnLink.String()},
		{"router", "external router", a.ExternalGateway.String()},
		{"gateway", "private gateway, drops spoofed sources", a.PrivateGateway.String()},
	}
	for i, n := range c.Nodes {
		what := "node"
		if i == 0 {
			what = fmt.Sprintf("node, announces %s", a.Pool[0])
		}
		hosts = append(hosts,
			host{fmt.Sprintf("node%d", i+1), what, fmt.Sprintf("%s %s, %s %s", n.PrivateLink, n.PrivateAddress, n.ExternalLink, n.ExternalAddress)},
			host{fmt.Sprintf("pod%d", i+1), fmt.Sprintf("pod on node%d", i+1), n.PodAddress.String()})
	}
	return append(hosts, host{"switch", "both networks' bridges", ""})
}
