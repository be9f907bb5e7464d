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

	"github.com/prometheus/client_golang/prometheus"
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

// serve answers for a node's agent at every address until the context ends.
func serve(ctx context.Context, addresses []netip.AddrPort, h handlers) {
	serveMux(ctx, addresses, h.log, h.mux)
}

// serveMux answers at every address until the context ends; what it answers depends
// on whether the address is on loopback. An address that cannot be had is tried
// again: what an agent does matters more than its reports.
func serveMux(ctx context.Context, addresses []netip.AddrPort, log *slog.Logger, mux func(loopback bool) http.Handler) {
	for _, a := range addresses {
		server := &http.Server{
			Handler: mux(a.Addr().IsLoopback()), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
			WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
			ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		}
		context.AfterFunc(ctx, func() { _ = server.Close() })
		go serveAt(ctx, server, a, log)
	}
}

func serveAt(ctx context.Context, server *http.Server, a netip.AddrPort, log *slog.Logger) {
	said := ""
	for ctx.Err() == nil {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", a.String())
		if err == nil {
			log.Info("serving", "address", a)
			said = ""
			if err = server.Serve(listener); errors.Is(err, http.ErrServerClosed) {
				return
			}
		}
		if err.Error() != said {
			said = err.Error()
			log.Warn("serving; trying again", "address", a, "error", err)
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
	mux.Handle("GET /metrics", metricsPage(registry(h.agent, h.kernel), h.log))
	if loopback {
		mux.HandleFunc("GET /healthz", h.healthz)
		mux.HandleFunc("GET /readyz", h.readyz)
		mux.HandleFunc("GET /state", h.state)
	}
	return mux
}

// metricsPage serves what a registry has.
func metricsPage(r *prometheus.Registry, log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
		MaxRequestsInFlight: 4, DisableCompression: true,
	})
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
