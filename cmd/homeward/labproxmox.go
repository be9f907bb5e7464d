package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"homeward/testenv/pvesim"
)

// labProxmoxFlags are those of `homeward lab proxmox`.
type labProxmoxFlags struct {
	listen                []string
	state, caFile, export string
	realPace              bool
}

func (t *tool) labProxmoxCommand() *cobra.Command {
	var f labProxmoxFlags
	cmd := &cobra.Command{
		Use:   "proxmox",
		Short: "a simulated Proxmox VE cluster for scripts",
		Long: `Serve the API of a simulated Proxmox VE cluster over HTTPS until a signal: nodes
pve1, pve2 and pve3 with the VLAN-aware bridges vmbr0 and vmbr1, no guests, and one
API token that may do all. Requests are checked against the schema of Proxmox VE
9.2; what the simulator does not know it refuses with status 501 and a warning here.

Standard output gets shell lines that set what homeward reads:

  HOMEWARD_PROXMOX_URL           where it listens; overrides the plan's
  HOMEWARD_PROXMOX_TOKEN_ID      the token
  HOMEWARD_PROXMOX_TOKEN_SECRET
  HOMEWARD_PROXMOX_CA_FILE       the CA of its certificate, made anew at each start
  HOMEWARD_LAB_PROXMOX_PID       the process, for kill
  HOMEWARD_LAB_PROXMOX_URLS      all endpoints, when --listen was given more than once

After them standard output is closed, so that a shell's "$(... &)" returns as soon
as the simulator answers. --export writes the same lines to a file, which is there,
whole, once the simulator answers; both files go when it ends.

With --state everything outlives the process: the file is made when it does not
exist, and is written anew, whole, before each write is answered. Without it all is
forgotten. Each further --listen is the endpoint of the next node.`,
		Example: `  # in a script: until the end of the shell
  eval "$(homeward lab proxmox --listen 127.0.0.1:0 &)"
  trap 'kill "$HOMEWARD_LAB_PROXMOX_PID"' EXIT
  homeward reserve -f cluster.yaml

  # the same without command substitution, and with its failures seen
  homeward lab proxmox --export lab.env & pid=$!
  trap 'kill $pid' EXIT
  until [ -s lab.env ]; do kill -0 $pid || exit 1; sleep 0.1; done
  . ./lab.env

  # ask it yourself
  curl --cacert "$HOMEWARD_PROXMOX_CA_FILE" \
    -H "Authorization: PVEAPIToken=$HOMEWARD_PROXMOX_TOKEN_ID=$HOMEWARD_PROXMOX_TOKEN_SECRET" \
    "$HOMEWARD_PROXMOX_URL/api2/json/cluster/firewall/ipset"`,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.labProxmox(cmd.Context(), f) },
	}
	cmd.Flags().StringArrayVar(&f.listen, "listen", []string{"127.0.0.1:18006"}, "address and port of an endpoint; port 0 is any free one; again for the next node's")
	cmd.Flags().StringVar(&f.state, "state", "", "keep the cluster's state in this file, the token's secret included")
	cmd.Flags().StringVar(&f.caFile, "ca-file", "", "write the CA here (default: beside the state file, else in a temporary directory)")
	cmd.Flags().StringVar(&f.export, "export", "", "write the shell lines to this file as well")
	cmd.Flags().BoolVar(&f.realPace, "real-pace", false, "take the time a real cluster takes: 95 ms a write, 3 s for a bad token")
	return cmd
}

func (t *tool) labProxmox(ctx context.Context, f labProxmoxFlags) (err error) {
	keeper := &stateKeeper{path: f.state}
	st, err := keeper.open()
	if err != nil {
		return err
	}
	options := pvesim.Options{State: st, Observe: t.observe, Saved: keeper.save, WithoutLog: true}
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
	lines := exportLines(urls, st, caFile)
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

// exportLines is what a shell can eval.
func exportLines(urls []string, st *pvesim.State, caFile string) string {
	id, secret := st.FirstToken()
	var b strings.Builder
	line := func(name, value string) {
		fmt.Fprintf(&b, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	line("HOMEWARD_PROXMOX_URL", urls[0])
	line("HOMEWARD_PROXMOX_TOKEN_ID", id)
	line("HOMEWARD_PROXMOX_TOKEN_SECRET", secret)
	line("HOMEWARD_PROXMOX_CA_FILE", caFile)
	line("HOMEWARD_LAB_PROXMOX_PID", fmt.Sprint(os.Getpid()))
	if len(urls) > 1 {
		line("HOMEWARD_LAB_PROXMOX_URLS", strings.Join(urls, " "))
	}
	return b.String()
}

// labFiles are the files that go when the simulator ends.
type labFiles struct{ paths []string }

// authority writes the CA, and gives its path, absolute.
func (l *labFiles) authority(f labProxmoxFlags, ca []byte) (string, error) {
	path := f.caFile
	switch {
	case path != "":
	case f.state != "":
		path = f.state + ".ca.pem"
	default:
		dir, err := os.MkdirTemp("", "homeward-proxmox-")
		if err != nil {
			return "", err
		}
		l.paths = append(l.paths, dir)
		path = filepath.Join(dir, "ca.pem")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := l.write(path, string(ca)); err != nil {
		return "", usage("--ca-file: %w", err)
	}
	return path, nil
}

// write makes a file in one step: it is there whole or not at all.
func (l *labFiles) write(path, text string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	l.paths = append(l.paths, path)
	return nil
}

// remove takes them away, the last first.
func (l *labFiles) remove() error {
	var errs []error
	for i := len(l.paths) - 1; i >= 0; i-- {
		if err := os.Remove(l.paths[i]); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
