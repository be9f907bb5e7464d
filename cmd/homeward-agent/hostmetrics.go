//go:build linux

package main

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"homeward/agent/segment"
)

// mux serves the metrics and nothing else.
func (w *watcher) mux() http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(&segmentCollector{w}, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metricsPage(r, w.log))
	return mux
}

// segmentCollector turns a watch into metrics whenever it is scraped.
type segmentCollector struct{ w *watcher }

// Describe implements prometheus.Collector. It names nothing, which makes the
// collector unchecked: which samples there are depends on the segment.
func (c *segmentCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *segmentCollector) Collect(ch chan<- prometheus.Metric) {
	now := time.Now()
	s := c.w.watch.Stats(now)
	send := func(m metric, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, v, labels...)
	}
	send(gauge("build_info", "What runs; always 1.", "version", "go_version"), 1, agentVersion(), runtime.Version())
	send(gauge("segment_listening", "1 while the segment is open."), bit(c.w.listening.Load()))
	send(gauge("segment_path_proven", "1 while a known address answers probes, so that silence means something."), bit(s.Proven))
	send(gauge("segment_overloaded", "1 while there is more ARP than can be judged."), bit(s.Overloaded))
	send(counter("segment_arp_frames_total", "ARP frames that were read."), float64(s.Frames))
	send(counter("segment_arp_malformed_total", "ARP frames among them that were none for IPv4 on Ethernet."), float64(s.Malformed))
	send(counter("segment_arp_unread_total", "ARP frames that came faster than they were read."), float64(s.Unread))
	send(counter("segment_probes_total", "Probes that were sent."), float64(s.Probes))
	for _, kind := range segment.Kinds() {
		send(counter("segment_events_total", "What happened on the segment, by kind.", "kind"), float64(s.Events[kind]), string(kind))
	}
	holders := gauge("segment_address_holders", "How many answer for an address; absent while it is not known.", "address", "use")
	strangers := gauge("segment_address_strangers", "How many MACs of no machine of the plan claimed an address of the plan lately.", "address", "use")
	info := gauge("segment_address_info", "Who has an address; always 1.", "address", "use", "mac", "machine")
	for _, r := range c.w.watch.Rows(now) {
		address := r.Address.String()
		switch r.Held {
		case segment.HeldByNobody:
			send(holders, 0, address, r.Use)
		case segment.HeldByOne, segment.HeldByMany:
			send(holders, float64(1+len(r.Others)), address, r.Use)
			send(info, 1, address, r.Use, r.MAC.String(), r.Machine)
		}
		if r.Ours {
			send(strangers, float64(len(r.Strangers)), address, r.Use)
		}
	}
}
