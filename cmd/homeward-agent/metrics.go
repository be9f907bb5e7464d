//go:build linux

package main

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"homeward/agent/returnpath"
	"homeward/netplan"
)

// tableLister lists our table, for counters that are as fresh as the scrape.
type tableLister interface {
	MarkTable(context.Context) (netplan.TableListing, error)
}

// collector turns an agent's status into metrics whenever it is scraped.
type collector struct {
	agent  *returnpath.Agent
	kernel tableLister
}

// registry has the agent's metrics and the process's, and nothing else.
func registry(agent *returnpath.Agent, kernel tableLister) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(&collector{agent: agent, kernel: kernel}, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// metric is one family: how it is described, and how its samples are made.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func gauge(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("homeward_"+name, help, labels, nil), prometheus.GaugeValue}
}

func counter(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("homeward_"+name, help, labels, nil), prometheus.CounterValue}
}

// family is every metric of the agent, by what it tells.
type family struct {
	build, ready, problem, uplink                          metric
	settings, resync                                       metric
	passes, failed, duration, lastPass, repairs            metric
	markedPackets, markedBytes, restoredPackets, restoredB metric
	gatewayReachable, gatewayProbeOnly                     metric
}

func families() family {
	return family{
		build:            gauge("build_info", "What runs; always 1.", "version", "go_version"),
		ready:            gauge("ready", "1 when the last pass reached the desired state and nothing else keeps replies from going home."),
		problem:          gauge("problem", "1 while there is a problem of this kind that keeps the agent from being ready (blocking) or only informs; /state says more.", "kind", "blocking"),
		settings:         gauge("settings_info", "What the agent was told; always 1. The digest is equal on nodes that were told the same but for the NIC's MAC; only those that may hold the VIP are told of it.", "digest", "routes", "vip"),
		resync:           gauge("resync_seconds", "Longest time between two looks at the node."),
		uplink:           gauge("uplink_present", "1 when the external NIC is there."),
		passes:           counter("passes_total", "Looks at the node."),
		failed:           counter("failed_passes_total", "Passes that did not reach the desired state."),
		duration:         gauge("pass_duration_seconds", "How long the last pass took."),
		lastPass:         gauge("last_pass_timestamp_seconds", "When the last pass ended."),
		repairs:          counter("repairs_total", "Steps that put right what something else had changed.", "kind"),
		markedPackets:    counter("marked_packets_total", "Original packets for the destinations that came in by the external NIC."),
		markedBytes:      counter("marked_bytes_total", "Bytes of those packets."),
		restoredPackets:  counter("restored_packets_total", "Reply packets that were sent home: of backends elsewhere (forwarded) and in the node's own network (local).", "path"),
		restoredB:        counter("restored_bytes_total", "Bytes of those packets.", "path"),
		gatewayReachable: gauge("gateway_reachable", "1 when the external gateway answered the last request; absent until it was asked."),
		gatewayProbeOnly: gauge("gateway_probe_only", "1 when the external gateway ignores ARP from the anchor address, so that its neighbour entry lives by this agent."),
	}
}

// Describe implements prometheus.Collector. It names nothing, which makes the
// collector unchecked: which samples there are depends on the node.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	s := c.agent.Status()
	f := families()
	send := func(m metric, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, v, labels...)
	}
	send(f.build, 1, agentVersion(), runtime.Version())
	send(f.ready, bit(s.Ready))
	send(f.uplink, bit(s.Uplink != nil))
	send(f.settings, 1, s.Settings.Digest, routesOwner(s.Settings), strconv.FormatBool(s.Settings.VIP))
	send(f.resync, s.ResyncSeconds)
	sendProblems(s.Problems, func(v float64, labels ...string) { send(f.problem, v, labels...) })
	send(f.passes, float64(s.Passes))
	send(f.failed, float64(s.FailedPasses))
	send(f.duration, s.LastPassMillis/1000)
	send(f.lastPass, float64(s.LastPass.UnixMilli())/1000)
	for _, kind := range returnpath.RepairKinds() {
		send(f.repairs, float64(s.Repairs[kind]), kind)
	}
	counters := c.counters(s)
	send(f.markedPackets, float64(counters.Marked.Packets))
	send(f.markedBytes, float64(counters.Marked.Bytes))
	for path, v := range map[string]netplan.Counter{"forwarded": counters.Forwarded, "local": counters.Local} {
		send(f.restoredPackets, float64(v.Packets), path)
		send(f.restoredB, float64(v.Bytes), path)
	}
	if s.Gateway.Known {
		send(f.gatewayReachable, bit(s.Gateway.Reachable))
		send(f.gatewayProbeOnly, bit(s.Gateway.ProbeOnly))
	}
}

// sendProblems sends each kind twice, as it blocks and as it does not: several
// kinds can do either, even at once.
func sendProblems(problems []returnpath.Problem, send func(float64, ...string)) {
	for _, kind := range returnpath.ProblemKinds() {
		for _, blocking := range []bool{true, false} {
			there := slices.ContainsFunc(problems, func(p returnpath.Problem) bool { return p.Kind == kind && p.Blocking == blocking })
			send(bit(there), string(kind), strconv.FormatBool(blocking))
		}
	}
}

// counters are the kernel's own of this moment, or those of the last pass when
// the table cannot be listed or is just away.
func (c *collector) counters(s returnpath.Status) netplan.Counters {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	listing, err := c.kernel.MarkTable(ctx)
	if err != nil || !listing.Present {
		return s.Counters
	}
	return listing.Counters
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
