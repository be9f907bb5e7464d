package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"homeward/testenv/pvesim"
)

// labProxmoxFlags are those of `homeward lab proxmox`.
type labProxmoxFlags struct {
	listen                []string
	state, caFile, export string
	token                 string
	faults                []string
	realPace, example     bool
}

func (t *tool) labProxmoxCommand() *cobra.Command {
	var f labProxmoxFlags
	cmd := &cobra.Command{
		Use:     "proxmox",
		Short:   "a simulated Proxmox VE cluster for scripts",
		Long:    simulatorHelp + stateHelp + "\n" + faultHelp(),
		Example: simulatorExamples,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.example {
				return t.exampleState()
			}
			return t.labProxmox(cmd.Context(), f)
		},
	}
	cmd.Flags().StringArrayVar(&f.listen, "listen", []string{"127.0.0.1:18006"}, "address and port of an endpoint; port 0 is any free one; again for the next node's")
	cmd.Flags().StringVar(&f.state, "state", "", "keep the cluster's state in this file, the token's secret included")
	cmd.Flags().StringVar(&f.caFile, "ca-file", "", "write the CA here (default: beside the state file, else in a temporary directory)")
	cmd.Flags().StringVar(&f.export, "export", "", "write the shell lines to this file as well")
	cmd.Flags().BoolVar(&f.example, "example-state", false, "print a state for --state to begin with, and end")
	cmd.Flags().StringVar(&f.token, "token", "", "give the lines this token of the state, USER@REALM!NAME (default: the one that may do all)")
	cmd.Flags().StringArrayVar(&f.faults, "fault", nil, "let requests fail: NAME or NAME:EVERY, as above; again for another")
	cmd.Flags().BoolVar(&f.realPace, "real-pace", false, "take the time a real cluster takes: 95 ms a write, 3 s for a bad token")
	return cmd
}

func (t *tool) labProxmox(ctx context.Context, f labProxmoxFlags) (err error) {
	keeper := &stateKeeper{path: f.state}
	st, err := keeper.open()
	if err != nil {
		return err
	}
	token, err := labTokenOf(st, f.token)
	if err != nil {
		return err
	}
	options := pvesim.Options{State: st, Observe: t.observe, Saved: keeper.save, WithoutLog: true}
	if options.Hook, err = pvesim.ParseFaults(f.faults); err != nil {
		return usage("--fault: %w", err)
	}
	if f.realPace {
		options.Times = pvesim.RealTimes()
		options.Sleep = func(d time.Duration) {
			select {
			case <-time.After(d):
			case <-ctx.Done(): // who ends it does not wait for a slow answer
			}
		}
	}
	sim, err := pvesim.New(options)
	if err != nil {
		return err
	}
	site, err := sim.NewSite()
	if err != nil {
		return err
	}
	urls, stop, err := listenAll(site, f.listen, st)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	var made labFiles
	defer func() { err = errors.Join(err, made.remove()) }()
	caFile, err := made.authority(f, site.CA())
	if err != nil {
		return err
	}
	lines := exportLines(urls, token, caFile)
	if f.export != "" {
		if err := made.write(f.export, lines); err != nil {
			return usage("--export: %w", err)
		}
	}
	if _, err := io.WriteString(t.out, lines); err != nil {
		return err
	}
	// What waits for the end of the output, such as $(...), goes on from here.
	if closer, ok := t.inherited.out.(io.Closer); ok {
		if err := closer.Close(); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// observe tells of requests, and warns of those that the simulator does not know.
func (t *tool) observe(r pvesim.Record) {
	if r.Status == http.StatusNotImplemented {
		t.log.Warn("the simulator does not know this request", "method", r.Method, "path", r.Path)
		return
	}
	t.log.Debug("request", "method", r.Method, "path", r.Path, "status", r.Status)
}

// listenAll opens an endpoint for each address, of the nodes in order.
func listenAll(site *pvesim.Site, addresses []string, st *pvesim.State) (urls []string, stop func() error, err error) {
	nodes := st.Nodes()
	if len(addresses) > len(nodes) {
		return nil, nil, usage("--listen was given %d times, but the cluster has %d nodes", len(addresses), len(nodes))
	}
	var servers []*pvesim.Server
	stop = func() error {
		var errs []error
		for _, s := range servers {
			errs = append(errs, s.Close())
		}
		return errors.Join(errs...)
	}
	for i, address := range addresses {
		s, err := site.Listen(address, nodes[i])
		if errors.Is(err, syscall.EADDRINUSE) {
			err = fmt.Errorf("--listen %s: another process listens there: give another port, or 0 for any free one", address)
		} else if err != nil {
			err = usage("--listen %s: %w", address, err)
		}
		if err != nil {
			return nil, nil, errors.Join(err, stop())
		}
		servers = append(servers, s)
		urls = append(urls, s.URL())
	}
	return urls, stop, nil
}
