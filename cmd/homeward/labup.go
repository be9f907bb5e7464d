//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"homeward/testenv/netlab"
	"homeward/testenv/netlab/demo"
	"homeward/testenv/netlab/standing"
)

// labUpFlags are those of `homeward lab up`.
type labUpFlags struct {
	agent                    string
	withoutAgent, foreground bool
}

func (t *tool) labUpCommand() *cobra.Command {
	var f labUpFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "keep a lab for playing until lab down",
		Long: `Build the cluster, with the agent running on both nodes, and keep it in the
background until "homeward lab down". "homeward lab exec" runs programs inside its
hosts. Each user can have one, and more by another directory in HOMEWARD_LAB_DIR.

Break what you like: the agent puts marks, rules and routes back. The routes it does
because here no Talos does (--routes=manage); a cluster's agents only check them.

--without-agent leaves the replies to you: the nodes have Talos's routing rules, and
nothing that marks packets, nor anything that puts routes back. After a link was down:

  homeward lab exec node1 -- ip route replace 203.0.113.0/24 dev ens19 table 251
  homeward lab exec node1 -- ip route replace default via 203.0.113.1 dev ens19 table 251`,
		Example: `  homeward lab up
  homeward lab exec node1 -- nft list ruleset
  homeward lab down`,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.labUp(cmd.Context(), f) },
	}
	cmd.Flags().BoolVar(&f.withoutAgent, "without-agent", false, "run no agent")
	cmd.Flags().BoolVar(&f.foreground, "foreground", false, "stay in the foreground until Ctrl-C or lab down")
	agentFlag(cmd, &f.agent)
	return cmd
}

func (t *tool) labUp(ctx context.Context, f labUpFlags) error {
	// Steered, so that only the marks are missing.
	program := demo.Program{Name: "nothing", Steered: true}
	if !f.withoutAgent {
		agent, err := findAgent(f.agent)
		if err != nil {
			return err
		}
		// Nothing plays Talos here, which puts routes back when a link was down: the
		// last of two flags counts.
		program = demo.Agent(agent, "--listen=127.0.0.1:9465", "--routes=manage")
	}
	dir := labDir()
	if f.foreground {
		return t.hold(ctx, dir, program)
	}
	if err := t.startHolder(ctx, dir); err != nil {
		return err
	}
	if err := t.printHosts(dir); err != nil {
		return err
	}
	repairs := "The agents repair it: rules, routes and marks."
	if f.withoutAgent {
		repairs = "No agent runs, and nothing repairs it: homeward lab up --help has the routes."
	}
	_, err := fmt.Fprint(t.out, `
Ask for an ingress address from behind the router; the backend repeats "homeward":
  homeward lab exec behind -- bash -c 'exec 3<>/dev/tcp/203.0.113.75/8000; printf "homeward\0\0\0\14" >&3; timeout 2 head -c 8 <&3 && echo'
Watch and break: homeward lab exec node1 -- nft list ruleset, ip rule, tcpdump -ni ens19, ip link set ens19 down, bash.
`+repairs+`
End it: homeward lab down
`)
	return err
}

// hold keeps a lab until the end of ctx or until it is asked to end. Outside it
// owns the state directory, which is gone last.
func (t *tool) hold(ctx context.Context, dir stateDir, program demo.Program) (result error) {
	if !netlab.Inside() {
		release, err := dir.claim()
		if err != nil {
			return err
		}
		defer func() { result = errors.Join(result, release()) }()
		if err := os.Setenv(envLabDir, string(dir)); err != nil {
			return err
		}
	}
	return t.inLab(func() error { return t.serveLab(ctx, dir, program) })
}

// serveLab runs inside the lab.
func (t *tool) serveLab(ctx context.Context, dir stateDir, program demo.Program) (err error) {
	c, err := netlab.NewCluster(netlab.AnchorLayout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	stop, err := demo.Keep(ctx, c, program)
	if err != nil {
		if interrupted(ctx) {
			return nil
		}
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := dir.writeHosts(describeHosts(c)); err != nil {
		return err
	}
	t.log.Debug("the lab is up")
	return standing.Serve(ctx, dir.socket(), c.Hosts())
}

// startHolder starts this command again with --foreground, in a session of its
// own, and waits until the lab answers.
func (t *tool) startHolder(ctx context.Context, dir stateDir) error {
	if dir.answers(ctx) {
		return errBusy
	}
	said, err := namelessLog()
	if err != nil {
		return err
	}
	defer said.Close()
	cmd := exec.Command("/proc/self/exe", append(os.Args[1:], "--foreground")...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the lab: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for !dir.answers(ctx) {
		select {
		case err := <-ended:
			text, readErr := io.ReadAll(io.NewSectionReader(said, 0, 1<<16))
			if why := strings.TrimPrefix(strings.TrimSpace(string(text)), "homeward: "); why != "" {
				err = errors.New(why)
			}
			return errors.Join(fmt.Errorf("starting the lab: %w", err), readErr)
		case <-ctx.Done():
			// It cleans up after itself.
			return errors.Join(errors.New("interrupted: nothing of the lab is left"), cmd.Process.Signal(syscall.SIGTERM), <-ended)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// namelessLog gives a file that is gone when nobody has it open any more.
func namelessLog() (*os.File, error) {
	f, err := os.CreateTemp("", "homeward-lab-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
