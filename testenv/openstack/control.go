//go:build linux

package openstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"time"
)

// Only the process that started a lab can start a server again. It listens on a
// socket in the lab's directory for those that use it too.
const (
	killPath    = "/database/kill"
	restartPath = "/database/restart"
)

func (p Place) control() string { return filepath.Join(p.Dir, "control.sock") }

// serveControl takes orders until the lab ends.
func (c *Cloud) serveControl() error {
	listener, err := net.Listen("unix", c.place.control())
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	order := func(path string, do func(context.Context) error) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			if err := do(r.Context()); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
	}
	order(killPath, c.own.database.kill)
	order(restartPath, c.own.database.restart)
	control := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = control.Serve(listener) }()
	c.own.control = control
	return nil
}

// KillDatabase kills the database under both servers with SIGKILL: what they have
// confirmed is kept. It returns when the database is gone. No other test may use
// the lab meanwhile.
func (c *Cloud) KillDatabase(ctx context.Context) error { return c.order(ctx, killPath) }

// RestartDatabase starts a killed database again and returns when it serves, and
// Keystone and Neutron with it.
func (c *Cloud) RestartDatabase(ctx context.Context) error {
	if err := c.order(ctx, restartPath); err != nil {
		return err
	}
	return c.awaitBoth(ctx)
}

// order gives an order to the process that started the lab.
func (c *Cloud) order(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://lab"+path, nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", c.place.control())
		}}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return fmt.Errorf("asking the lab for %s: %w", path, err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	return errors.Join(fmt.Errorf("asking the lab for %s: %s", path, text), err)
}

// awaitBoth waits until both servers answer an administrator's question: their
// connections to a killed database are replaced one by one as they are used.
func (c *Cloud) awaitBoth(ctx context.Context) error {
	for {
		err := errors.Join(c.becomeAdministrator(ctx), c.askNeutron(ctx))
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the servers after the database: %w: %w", ctx.Err(), err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
