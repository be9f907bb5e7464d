//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"homeward/agent/returnpath"
)

// handlers answer for one agent.
type handlers struct {
	agent  *returnpath.Agent
	kernel tableLister
	log    *slog.Logger
}

// bindRetry is the wait before an address that is not there yet (DHCP) is tried
// again.
const bindRetry = 2 * time.Second

// serve answers at every address until the context ends. An address that cannot
// be had is tried again: the return path matters more than its reports.
func serve(ctx context.Context, addresses []netip.AddrPort, h handlers) {
	for _, a := range addresses {
		server := &http.Server{
			Handler: h.mux(a.Addr().IsLoopback()), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
			WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
			ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
		}
		context.AfterFunc(ctx, func() { _ = server.Close() })
		go h.serveAt(ctx, server, a)
	}
}

func (h handlers) serveAt(ctx context.Context, server *http.Server, a netip.AddrPort) {
	said := ""
	for ctx.Err() == nil {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", a.String())
		if err == nil {
			h.log.Info("serving", "address", a)
			said = ""
			if err = server.Serve(listener); errors.Is(err, http.ErrServerClosed) {
				return
			}
		}
		if err.Error() != said {
			said = err.Error()
			h.log.Warn("serving; trying again", "address", a, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(bindRetry):
		}
	}
}

// mux gives everything on loopback, and only metrics to the network.
func (h handlers) mux(loopback bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry(h.agent, h.kernel), promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
		MaxRequestsInFlight: 4, DisableCompression: true,
	}))
	if loopback {
		mux.HandleFunc("GET /healthz", h.healthz)
		mux.HandleFunc("GET /readyz", h.readyz)
		mux.HandleFunc("GET /state", h.state)
	}
	return mux
}

// healthz says whether the loop turns: when not, a restart helps.
func (h handlers) healthz(w http.ResponseWriter, _ *http.Request) {
	if !h.agent.Alive() {
		http.Error(w, "the loop stands still", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// readyz says whether replies go home, and if not, why.
func (h handlers) readyz(w http.ResponseWriter, _ *http.Request) {
	s := h.agent.Status()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if !s.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	printReadiness(w, s)
}

func (h handlers) state(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(h.agent.Status()); err != nil {
		h.log.Debug("answering /state", "error", err)
	}
}
