//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"syscall"
	"time"

	"homeward/netplan"
	"homeward/testenv/netlab"
	"homeward/testenv/netlab/demo"
)

// bench is one run of all measurements.
type bench struct{ agent string }

// contender is a program that keeps the return path, with its table.
type contender struct {
	demo.Program
	family, table string
	// rules is how many rules its whole table has.
	rules int
	// period is how long it may not look; a flush comes at any moment of it.
	period time.Duration
}

func (b *bench) ours(flags ...string) contender {
	return contender{demo.Agent(b.agent, flags...), "inet", netplan.NFTablesTable, 3, 0}
}

func shell() contender {
	return contender{demo.Shell(), "ip", demo.ShellTable, 2, shellPeriod}
}

// shellPeriod is the time between two looks of the shell loop.
const shellPeriod = 30 * time.Second

// missing says why a contender cannot run here, empty when it can.
func (c contender) missing() string {
	for _, need := range c.Needs {
		if _, err := exec.LookPath(need); err != nil {
			return need + " is not here"
		}
	}
	return ""
}

// stage is a cluster whose first node a contender keeps.
type stage struct {
	*netlab.Cluster
	contender contender
	process   *netlab.Cmd
	log       *os.File
}

// newStage builds a cluster, with the routing that Talos would give its node.
func newStage(c contender) (*stage, error) {
	cluster, err := netlab.NewCluster(netlab.AnchorLayout)
	if err != nil {
		return nil, err
	}
	s := &stage{Cluster: cluster, contender: c}
	s.log, err = os.CreateTemp("", "homeward-figures-")
	if err == nil {
		err = os.Remove(s.log.Name()) // only the open file is needed
	}
	if err == nil {
		err = cluster.Serve(cluster.MatrixServices(s.node())...)
	}
	if err == nil {
		err = cluster.Announce(cluster.Addresses.Pool[0], s.node())
	}
	if err == nil {
		err = s.node().Steer()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *stage) node() *netlab.Node { return s.Nodes[0] }

// Close ends the program and the cluster.
func (s *stage) Close() error {
	s.end(syscall.SIGKILL)
	if s.log != nil {
		s.log.Close()
	}
	return s.Cluster.Close()
}

// start starts the contender's program.
func (s *stage) start(ctx context.Context) error {
	line := s.contender.Command(s.node())
	s.process = s.node().Command(ctx, line[0], line[1:]...)
	s.process.Stdout, s.process.Stderr = s.log, s.log
	return s.process.Start()
}

// end ends the program, if it runs, and waits for it.
func (s *stage) end(sig syscall.Signal) {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Signal(sig) // it may have ended by itself
	_ = s.process.Wait()              // its exit status is the signal's
	s.process = nil
}

// standing waits until the contender's whole table is there.
func (s *stage) standing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		n, err := s.node().RulesOf(s.contender.family, s.contender.table)
		if err != nil || n == s.contender.rules {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the table of %s: %w", s.contender.Name, ctx.Err())
		case <-time.After(200 * time.Microsecond):
		}
	}
}

// podHere is the service whose pod is on the announcing node.
func (s *stage) podHere() netip.AddrPort {
	for _, service := range s.MatrixServices(s.node()) {
		if service.Node == 0 && !service.HostNetwork && service.Policy == netlab.PolicyCluster {
			return netip.AddrPortFrom(service.Address, service.Port)
		}
	}
	return netip.AddrPort{}
}
