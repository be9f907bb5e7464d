//go:build linux

package openstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"golang.org/x/sync/errgroup"
)

// The names that every lab has.
const (
	Region      = "RegionOne"
	ExternalNet = "public" // the external network that Start makes
)

// Options says how a lab is to be; the zero value will do.
type Options struct {
	// Logs is a directory for one log a server, made when it is missing; empty for
	// one that goes with the lab.
	Logs string
	// Progress gets a line per step of the start with its time; nil for none.
	Progress io.Writer
	// Workers is how many processes serve Neutron's API; 2 when zero.
	Workers int
	// TokenLife is how long Keystone's tokens are good; an hour when zero.
	TokenLife time.Duration
	// Floating is the range of floating addresses of [ExternalNet], inside
	// 203.0.113.0/24; .100 to .199 when zero, so that an administrator can choose those
	// below and no project has got them by chance.
	Floating Range
}

// Range is a range of addresses with both its ends.
type Range struct{ First, Last netip.Addr }

// Cloud is a running Keystone and a running Neutron. All methods may be used
// concurrently.
type Cloud struct {
	place Place
	own   *own // nil when another process has started it

	mu                sync.Mutex
	identity, network *gophercloud.ServiceClient // as administrator
}

// own is what a process has of a lab that it started itself.
type own struct {
	group    *group
	database *database
	control  io.Closer
}

// Start brings up a lab from nothing, in a private directory and on free ports of
// the loopback interface. It takes a minute or two on two cores; give ctx a limit.
// The lab ends with Stop, or with this process, however that ends.
func Start(ctx context.Context, options Options) (_ *Cloud, err error) {
	if err := Installed(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "homeward-openstack-")
	if err != nil {
		return nil, err
	}
	logs := options.Logs
	if logs == "" {
		logs = filepath.Join(dir, "logs")
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, err
	}
	g, err := newGroup(dir, logs)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c := &Cloud{own: &own{group: g}, place: Place{Dir: dir, Logs: logs, Password: servicePassword}}
	defer func() {
		if err != nil {
			err = fmt.Errorf("starting the OpenStack lab: %w\n%s", err, c.LogTails(25))
			err = errors.Join(err, c.Stop())
		}
	}()
	if err := c.startServers(ctx, options); err != nil {
		return nil, err
	}
	if err := c.serveControl(); err != nil {
		return nil, err
	}
	return c, c.place.write()
}

// startServers starts database and servers side by side, for most of the time goes
// into loading Python modules, and makes what every lab has.
func (c *Cloud) startServers(ctx context.Context, options Options) error {
	lap := laps(options.Progress)
	identitySocket, identity, err := listen()
	if err != nil {
		return err
	}
	defer identitySocket.Close()
	networkSocket, network, err := listen()
	if err != nil {
		return err
	}
	defer networkSocket.Close()
	c.place.Identity, c.place.Network = identity+"/v3", network
	s := options.settings(c.place)
	keystone, err := startKeystone(c.own.group, identitySocket, s)
	if err != nil {
		return err
	}
	neutron, err := startNeutron(c.own.group, networkSocket, s)
	if err != nil {
		return err
	}
	if c.own.database, err = newDatabase(ctx, c.own.group); err != nil {
		return err
	}
	lap("MariaDB serves")
	together, starting := errgroup.WithContext(ctx)
	together.Go(func() error {
		if err := errors.Join(keystone.databaseReady(), keystone.awaitServing(starting)); err != nil {
			return err
		}
		lap("Keystone serves")
		return c.makeAccounts(starting)
	})
	together.Go(func() error {
		if err := errors.Join(neutron.databaseReady(), neutron.awaitServing(starting)); err != nil {
			return err
		}
		lap("Neutron serves")
		return nil
	})
	if err := together.Wait(); err != nil {
		return err
	}
	return c.makeExternal(ctx, options.Floating)
}

// settings fills in what an option leaves open.
func (o Options) settings(p Place) settings {
	s := settings{Dir: p.Dir, Socket: databaseSocket(p.Dir), Password: p.Password, Paste: pasteFile,
		Identity: p.Identity, TokenCacheSeconds: int(tokenCache / time.Second), TokenSeconds: int(o.TokenLife / time.Second), Workers: o.Workers}
	if s.TokenSeconds == 0 {
		s.TokenSeconds = 3600
	}
	if s.Workers == 0 {
		s.Workers = 2
	}
	return s
}

// laps gives a function that tells how long the start has taken so far.
func laps(w io.Writer) func(string) {
	if w == nil {
		return func(string) {}
	}
	start := time.Now()
	return func(step string) {
		fmt.Fprintf(w, "openstack lab: %s after %.1f s\n", step, time.Since(start).Seconds())
	}
}

// Stop ends the lab and leaves nothing but the logs that Options asked for. It does
// nothing to a lab that another process started.
func (c *Cloud) Stop() error {
	if c.own == nil {
		return nil
	}
	var err error
	if c.own.control != nil {
		err = c.own.control.Close()
	}
	return errors.Join(err, c.own.group.end())
}

// Identity is the address of Keystone's API, as OS_AUTH_URL wants it.
func (c *Cloud) Identity() string { return c.place.Identity }

// Network is the address of Neutron's API, as it stands in the catalog.
func (c *Cloud) Network() string { return c.place.Network }
