//go:build linux

package kube_test

import (
	"testing"
	"time"

	"homeward/testenv/kube"
	"homeward/testenv/netlab"
)

// TestRealKubernetes is the product's promise, kept by the real parts. It is one
// cluster: its parts take half a minute to start, and what one step leaves is
// where the next begins.
func TestRealKubernetes(t *testing.T) {
	l := newLab(t)
	t.Run("no request is answered without the product's pod", func(t *testing.T) {
		judge(t, l, netlab.PathPrivate)
	})
	t.Run("nftables mode, the agent", func(t *testing.T) {
		must(t, l.InstallReturnPath(t.Context(), kube.AgentPod))
		judge(t, l, netlab.PathExternal)
	})
	t.Run("homeward verify", func(t *testing.T) { kube.Verify(t, l) })
	t.Run("the generated Traefik service", func(t *testing.T) { testTraefik(t, l) })
	t.Run("Pod Security as Talos sets it", func(t *testing.T) { testPodSecurity(t, l) })
	change(t, l)
	disturb(t, l)
	t.Run("iptables mode, the agent", func(t *testing.T) {
		// kube-proxy itself forgets the connections over UDP that it has rewritten.
		tcp := []netlab.Protocol{netlab.TCP}
		noReplyLostOver(t, l, tcp, func() { switchProxies(t, l, kube.ProxyIPTables) })
		judge(t, l, netlab.PathExternal)
	})
	t.Run("iptables mode, cleaned up", func(t *testing.T) {
		must(t, l.RemoveReturnPath(t.Context()))
		judge(t, l, netlab.PathPrivate)
	})
	t.Run("iptables mode, the nft pod", func(t *testing.T) {
		must(t, l.InstallReturnPath(t.Context(), kube.NFTPod))
		judge(t, l, netlab.PathExternal)
	})
	t.Run("nftables mode, the nft pod", func(t *testing.T) {
		switchProxies(t, l, kube.ProxyNFTables)
		judge(t, l, netlab.PathExternal)
	})
	t.Run("the nft pod replaced by the agent", func(t *testing.T) {
		noReplyLost(t, l, func() { must(t, l.InstallReturnPath(t.Context(), kube.AgentPod)) })
		judge(t, l, netlab.PathExternal)
	})
}

// questions is how many different cells there are, seen from the announcer:
// policy Cluster with four backends, Local with the two of the announcer itself;
// two clients; two protocols.
const questions = (4 + 2) * 2 * 2

// judge asks the whole matrix: every reply has to leave by one path, and a client
// is answered when that is the external one.
func judge(t *testing.T, l *kube.Lab, want netlab.Path) {
	t.Helper()
	cells, err := l.Matrix(within(t, time.Minute))
	must(t, err)
	seen := map[string]bool{}
	for _, c := range cells {
		seen[c.String()] = true
		answered := want == netlab.PathExternal
		if c.Announcer == "" || c.Path != want || c.Answered != answered {
			t.Errorf("%s (%s, asked on %q): answered %t, replies left by %q; want %t, %q",
				c, c.Service.Target(), c.Announcer, c.Answered, c.Path, answered, want)
		}
		if c.Service.Policy == netlab.PolicyLocal && c.Announcer != c.Service.Backend {
			t.Errorf("%s: announced by %s, which has no backend", c, c.Announcer)
		}
	}
	if len(seen) != questions {
		t.Errorf("%d different questions were asked, want %d: %v", len(seen), questions, seen)
	}
}

// switchProxies changes kube-proxy's mode as an operator does: the old one is
// stopped, cleans up, and the new one starts.
func switchProxies(t *testing.T, l *kube.Lab, mode kube.ProxyMode) {
	t.Helper()
	must(t, l.StopProxies())
	must(t, l.CleanProxies(t.Context()))
	must(t, l.StartProxies(t.Context(), mode))
	must(t, l.WaitServed(t.Context()))
}

// testTraefik asks the Service of the generated traefik.yaml, which names its
// backend's port and has an address of MetalLB's choice.
func testTraefik(t *testing.T, l *kube.Lab) {
	ctx := within(t, time.Minute)
	address, err := l.WaitAddress(ctx, "ingress", "traefik")
	must(t, err)
	if address != l.Net.Addresses.Pool[0] {
		t.Errorf("traefik has %s, want the pool's one free address %s", address, l.Net.Addresses.Pool[0])
	}
	must(t, kube.WaitFor(ctx, "an answer of traefik", l.Asks(address, 80)))
}

// testPodSecurity sees that pods like MetalLB's speakers are let into the generated
// namespace, because of its labels, and into no other.
func testPodSecurity(t *testing.T, l *kube.Lab) {
	for namespace, allowed := range map[string]bool{"metallb-system": true, "ingress": false} {
		err := l.TryHostNetworkPod(t.Context(), namespace)
		if (err == nil) != allowed {
			t.Errorf("a pod of the node's own network in namespace %s: %v; want it allowed: %t", namespace, err, allowed)
		}
	}
}
