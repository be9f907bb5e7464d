//go:build linux

package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"

	"homeward/agent/kernel"
	"homeward/agent/segment"
)

// runHost is `homeward-agent host`.
func runHost(ctx context.Context, args []string, out, errs io.Writer) int {
	o, code, done := readHostFlags(args, out, errs)
	if done {
		return code
	}
	log := newLogger(o.logFormat, errs)
	what, err := o.gather()
	if err != nil {
		log.Error("starting", "error", err)
		return exitUsage
	}
	h := &host{options: o, watched: what, kernel: kernel.New(log), out: out, log: log}
	switch {
	case o.dhcp:
		return h.dhcpCheck(ctx)
	case o.once:
		return h.probe(ctx)
	}
	return h.watchSegment(ctx)
}

// host is the agent on a Proxmox host.
type host struct {
	options hostOptions
	watched watched
	kernel  *kernel.Kernel
	out     io.Writer
	log     *slog.Logger
}

// cannot says that the segment could not be asked, and what to do where that is known;
// the other errors have their remedy in them.
func (h *host) cannot(doing string, err error) {
	remedy := ""
	switch {
	case errors.Is(err, kernel.ErrNoInterface):
		remedy = "run it on a Proxmox host that is on the segment, and say where that is there: --interface NAME, or --bridge NAME and --vlan ID"
	case errors.Is(err, fs.ErrPermission):
		remedy = "run it as root on the Proxmox host, or give it CAP_NET_RAW, and CAP_NET_ADMIN where it has to make the VLAN's interface"
	}
	if remedy == "" {
		h.log.Error(doing, "error", err)
		return
	}
	h.log.Error(doing, "error", err, "remedy", remedy)
}

// question is who has any of the addresses.
func (h *host) question() segment.Question {
	q := segment.Question{Witnesses: segment.Witnesses(h.watched.targets)}
	for _, t := range h.watched.targets {
		q.Addresses = append(q.Addresses, t.Address)
	}
	return q
}

// probe asks once, prints, and judges when --check is given.
func (h *host) probe(ctx context.Context) int {
	var report segment.Report
	err := h.kernel.OnWire(ctx, h.watched.leg, func(w *kernel.Wire) (err error) {
		report, err = segment.Probe(ctx, w, h.question())
		return err
	})
	if err != nil {
		h.cannot("probing", err)
		return exitUnknown
	}
	found := h.find(report)
	if err := found.print(h.out, h.options.output); err != nil {
		h.log.Error("printing", "error", err)
		return exitFailed
	}
	switch {
	case !h.options.check:
		return exitDone
	case !report.Proven || report.Lost > 0:
		return exitUnknown
	case found.Summary.Strangers > 0:
		return exitTaken
	case found.Summary.Conflicts > 0:
		return exitFailed
	}
	return exitDone
}
