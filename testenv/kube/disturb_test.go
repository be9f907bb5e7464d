//go:build linux

package kube_test

import (
	"sync"
	"testing"
	"time"

	"homeward/testenv/kube"
	"homeward/testenv/netlab"
)

// disturb does to the nodes what happens to them over the years, under load. What
// is Homeward's to lose is nothing.
func disturb(t *testing.T, l *kube.Lab) {
	first := l.Machines[0]
	eachMachine := func(t *testing.T, f func(*kube.Machine) error) {
		t.Helper()
		for _, m := range l.Machines {
			must(t, f(m))
		}
	}
	t.Run("kube-proxy restarted", func(t *testing.T) {
		noReplyLost(t, l, func() {
			must(t, l.StopProxies())
			must(t, l.StartProxies(t.Context(), kube.ProxyNFTables))
		})
	})
	t.Run("kubelet restarted", func(t *testing.T) {
		noReplyLost(t, l, func() {
			eachMachine(t, (*kube.Machine).StopKubelet)
			eachMachine(t, func(m *kube.Machine) error { return m.StartKubelet(t.Context()) })
		})
	})
	t.Run("the pod upgraded", func(t *testing.T) {
		noReplyLost(t, l, func() { must(t, l.UpgradeReturnPath(t.Context(), kube.AgentPod, "two")) })
	})
	t.Run("containerd killed", func(t *testing.T) {
		noReplyLost(t, l, func() {
			must(t, first.KillContainerd())
			must(t, first.StartContainerd(t.Context()))
		})
		must(t, l.WaitPods(within(t, 2*time.Minute), "kube-system", "homeward-return-path"))
	})
	t.Run("nft flush ruleset", func(t *testing.T) { testFlush(t, l) })
	t.Run("a speaker killed and its NIC deaf", func(t *testing.T) { testTakeover(t, l) })
	t.Run("a node without power", func(t *testing.T) { testNodeLost(t, l) })
	t.Run("after all that", func(t *testing.T) { judge(t, l, netlab.PathExternal) })
}

// loaded are the Services under load: replies that come back from another node,
// from a pod, and from the node's own network.
func loaded(l *kube.Lab) []kube.Service {
	var services []kube.Service
	for _, s := range l.Services() {
		if s.Policy == netlab.PolicyLocal || s.Backend == l.Machines[1].Name {
			services = append(services, s)
		}
	}
	return services
}

// clusterService is the Service of policy Cluster with its backend in a pod on a
// machine. They all share an address, and so an announcer.
func clusterService(l *kube.Lab, m *kube.Machine) kube.Service {
	for _, s := range l.Services() {
		if s.Policy == netlab.PolicyCluster && !s.HostNetwork && s.Backend == m.Name {
			return s
		}
	}
	panic("the matrix has no such service")
}

// noReplyLost does something while long-lived connections carry requests of the
// client behind the router, and fails for each reply that did not come. kube-proxy
// is not needed for these: the kernel remembers what it has rewritten.
func noReplyLost(t *testing.T, l *kube.Lab, f func()) {
	t.Helper()
	noReplyLostOver(t, l, []netlab.Protocol{netlab.TCP, netlab.UDP}, f)
}

func noReplyLostOver(t *testing.T, l *kube.Lab, protocols []netlab.Protocol, f func()) {
	t.Helper()
	var loads []*netlab.Load
	var stops []func() netlab.LoadResult
	var names []string
	for _, s := range loaded(l) {
		for _, p := range protocols {
			load, err := netlab.StartLoad(within(t, time.Minute), netlab.LoadConfig{
				From: l.Net.Behind, Protocol: p, Target: s.Target(), Rate: 20, Connections: 4,
			})
			must(t, err)
			stop := sync.OnceValue(load.Stop)
			defer stop()
			loads, stops = append(loads, load), append(stops, stop)
			names = append(names, s.Name+" "+string(p))
		}
	}
	f()
	for i, load := range loads {
		if err := load.WaitReplies(within(t, 20*time.Second), 20); err != nil {
			t.Errorf("%s: %v", names[i], err)
		}
	}
	var requests int
	for i, stop := range stops {
		result := stop()
		requests += result.Requests
		if result.Lost > 0 || result.Broken > 0 {
			t.Errorf("%s: %d of %d replies lost, %d connections broken, none for %s",
				names[i], result.Lost, result.Requests, result.Broken, result.LongestGap)
		}
	}
	t.Logf("%d requests", requests)
}

// testFlush flushes everything of nftables on both nodes. The agent has to be
// back at once by itself; kube-proxy is restarted, since its own repair is not
// what is tested.
func testFlush(t *testing.T, l *kube.Lab) {
	for _, m := range l.Machines {
		before, err := m.ReturnPathRules()
		must(t, err)
		must(t, m.FlushNFT(t.Context()))
		began := time.Now()
		must(t, kube.WaitFor(within(t, 10*time.Second), "the product's table", m.HasReturnPathRules(before)))
		t.Logf("%s: the table was back after at most %s", m.Name, time.Since(began).Round(time.Millisecond))
	}
	must(t, l.StopProxies())
	must(t, l.StartProxies(t.Context(), kube.ProxyNFTables))
	must(t, l.WaitServed(t.Context()))
	judge(t, l, netlab.PathExternal)
}

// testNodeLost takes the power of the node that announces a Service whose backend
// is on the other one: the client is answered again as soon as the other speaker
// has noticed. Back again, the node does its part as before.
func testNodeLost(t *testing.T, l *kube.Lab) {
	const duration = 40 * time.Second
	lost, err := l.Announcer(t.Context(), clusterService(l, l.Machines[0]))
	must(t, err)
	other := l.Machines[0]
	if other == lost {
		other = l.Machines[1]
	}
	service := clusterService(l, other)
	probe, err := l.StartProbe(within(t, 2*duration), service.Target(), duration)
	must(t, err)
	time.Sleep(2 * time.Second)
	must(t, lost.Lose(t.Context()))
	result, err := probe.Result()
	must(t, err)
	t.Logf("%d of %d attempts answered, %d outages, the longest %s",
		result.Answered, result.Attempts, result.Outages, result.Longest)
	if result.Outages == 0 || result.Longest > 30*time.Second || !result.Up {
		t.Errorf("the probe reports %+v: want an outage shorter than 30 s, and answers at the end", result)
	}
	must(t, lost.Return(within(t, 3*time.Minute)))
	must(t, l.WaitPods(within(t, 2*time.Minute), "kube-system", "homeward-return-path"))
	must(t, l.WaitServed(t.Context()))
	judge(t, l, netlab.PathExternal)
}

// testTakeover ends the announcing speaker without a word to the other and makes
// its NIC deaf for the address, while the product's own probe measures how long
// the client behind the router has no answer, and its own watch of the segment sees
// who has the address.
func testTakeover(t *testing.T, l *kube.Lab) {
	const duration = 30 * time.Second
	service := clusterService(l, l.Machines[1])
	announcer, err := l.Announcer(t.Context(), service)
	must(t, err)
	probe, err := l.StartProbe(within(t, 2*duration), service.Target(), duration)
	must(t, err)
	watch, err := l.StartWatch(within(t, 2*duration))
	must(t, err)
	time.Sleep(4 * time.Second)
	must(t, announcer.KillSpeaker())
	must(t, announcer.Cut(service.Address))
	result, err := probe.Result()
	must(t, err)
	t.Logf("%d of %d attempts answered, %d outages, the longest %s",
		result.Answered, result.Attempts, result.Outages, result.Longest)
	if result.Outages == 0 || result.Longest > 20*time.Second || !result.Up {
		t.Errorf("the probe reports %+v: want an outage shorter than 20 s, and answers at the end", result)
	}
	now, err := l.Announcer(t.Context(), service)
	must(t, err)
	if now == announcer {
		t.Errorf("%s announces still", now.Name)
	}
	seesTakeover(t, watch, service, announcer, now)
	must(t, announcer.Mend())
	must(t, announcer.StartSpeaker())
	must(t, kube.WaitFor(within(t, time.Minute), "the first speaker to announce again", l.AnnouncedBy(service, announcer)))
}

// seesTakeover ends a watch, which has to have told that one machine took a
// Service's address over from another, and of no stranger.
func seesTakeover(t *testing.T, watch *kube.Watch, service kube.Service, old, now *kube.Machine) {
	t.Helper()
	events, err := watch.Events()
	must(t, err)
	seen := false
	for _, e := range events {
		t.Logf("%s %s: %q, before %q", e.Kind, e.Address, e.Machine, e.FromMachine)
		seen = seen || e.Kind == "taken_over" && e.Address == service.Address && e.Machine == now.Name && e.FromMachine == old.Name
		if e.Kind == "stranger" {
			t.Errorf("it took somebody for a stranger at %s", e.Address)
		}
	}
	if !seen {
		t.Errorf("it did not tell that %s took %s over from %s", now.Name, service.Address, old.Name)
	}
}
