package verify

import (
	"errors"
	"net/netip"
	"testing"
	"time"
)

// with adds a service to the healthy cluster's traefik.
func with(name, spec, address string) func(*testing.T, *Snapshot) {
	return func(t *testing.T, s *Snapshot) { addService(t, s, "default", name, spec, address) }
}

// annotated gives traefik an annotation, and a second service the same or another one.
func annotated(key, first, second, spec, address string) func(*testing.T, *Snapshot) {
	return func(t *testing.T, s *Snapshot) {
		s.Services.Value[0].Annotations = map[string]string{key: first}
		addService(t, s, "default", "b", spec, address).Annotations = map[string]string{key: second}
	}
}

func TestServiceAddresses(t *testing.T) {
	judge(t, "service-addresses", []planted{
		{name: "as planned", want: Pass, seen: "1 service with addresses of the plan"},
		{name: "none at all", want: Skipped, change: func(_ *testing.T, s *Snapshot) { s.Services.Value = nil }},
		{name: "outside the pool", want: Fail, seen: "default/b has 203.0.113.99, which is of the external network and not of the plan's pool", remedy: "kubectl -n default describe service b", change: with("b", `{"type": "LoadBalancer"}`, "203.0.113.99")},
		{name: "the VIP", want: Fail, seen: "default/b has 203.0.113.79, which is the API's VIP", change: with("b", `{"type": "LoadBalancer"}`, "203.0.113.79")},
		{name: "elsewhere", want: Fail, seen: "192.0.2.1, which is not of the plan's pool", change: with("b", `{"type": "LoadBalancer"}`, "192.0.2.1")},
		{name: "of another load balancer", want: Pass, seen: "192.0.2.1 of another load balancer", change: with("b", `{"type": "LoadBalancer", "loadBalancerClass": "x/y"}`, "192.0.2.1")},
		{name: "of another load balancer, on our segment", want: Fail, change: with("b", `{"type": "LoadBalancer", "loadBalancerClass": "x/y"}`, "203.0.113.99")},
		{name: "IPv6", want: Warn, seen: "2001:db8::1: plans have IPv4 only", change: with("b", `{"type": "LoadBalancer"}`, "2001:db8::1")},
		{name: "an externalIP of the pool", want: Fail, seen: "default/b has externalIP 203.0.113.76", change: with("b", `{"type": "ClusterIP", "externalIPs": ["203.0.113.76"]}`, "")},
		{name: "the VIP as externalIP", want: Fail, seen: "every node keeps such requests to itself", change: with("b", `{"type": "ClusterIP", "externalIPs": ["203.0.113.79"]}`, "")},
		{name: "an externalIP on our segment", want: Fail, seen: "of the external network and not in the plan", change: with("b", `{"externalIPs": ["203.0.113.20"]}`, "")},
		{name: "an externalIP elsewhere", want: Pass, change: with("b", `{"externalIPs": ["192.0.2.1", "fc00::1"]}`, "")},
	})
}

func TestServicePins(t *testing.T) {
	const pinned = "ingress: {address: 203.0.113.75}\nagent: {"
	judge(t, "service-pins", []planted{
		{name: "none", want: Pass, seen: "0 pinned services"},
		{name: "as pinned", want: Pass, seen: "1 pinned service", change: with("b", `{"type": "LoadBalancer", "loadBalancerIP": "203.0.113.76"}`, "203.0.113.76")},
		{name: "another than pinned", want: Fail, seen: "default/b is pinned to 203.0.113.77 and has 203.0.113.76", remedy: "describe service b", change: with("b", `{"type": "LoadBalancer", "loadBalancerIP": "203.0.113.77"}`, "203.0.113.76")},
		{name: "outside the pool", want: Fail, seen: "pinned to 203.0.113.9, which is not of the plan's pool", change: with("b", `{"type": "LoadBalancer", "loadBalancerIP": "203.0.113.9"}`, "")},
		{name: "no address", want: Fail, seen: "pinned to yes, which is no address", remedy: "edit service b", change: with("b", `{"type": "LoadBalancer", "loadBalancerIP": "yes"}`, "")},
		{name: "twice", want: Fail, seen: "has both spec.loadBalancerIP and annotation", change: func(t *testing.T, s *Snapshot) {
			addService(t, s, "default", "b", `{"type": "LoadBalancer", "loadBalancerIP": "203.0.113.76"}`, "203.0.113.76").Annotations = map[string]string{"metallb.io/loadBalancerIPs": "203.0.113.76"}
		}},
		{name: "by the old annotation, with IPv6", want: Pass, seen: "1 pinned service", change: func(t *testing.T, s *Snapshot) {
			addService(t, s, "default", "b", `{"type": "LoadBalancer"}`, "203.0.113.76").Annotations = map[string]string{"metallb.universe.tf/loadBalancerIPs": "203.0.113.76, fc00::1"}
		}},
		{name: "to a pool that is not there", want: Fail, seen: `asks for pool "web", which is not there`, change: func(t *testing.T, s *Snapshot) {
			addService(t, s, "default", "b", `{"type": "LoadBalancer"}`, "").Annotations = map[string]string{"metallb.io/address-pool": "web"}
		}},
		{name: "for another load balancer", want: Pass, change: with("b", `{"type": "LoadBalancer", "loadBalancerClass": "x/y", "loadBalancerIP": "192.0.2.1"}`, "")},
		{name: "the plan's", want: Pass, seen: "ingress/traefik has ingress.address 203.0.113.75", edits: []string{"agent: {", pinned}},
		{name: "the plan's, and another has it", want: Pass, seen: "default/b has ingress.address 203.0.113.76", edits: []string{"agent: {", "ingress: {address: 203.0.113.76}\nagent: {"}, change: with("b", `{"type": "LoadBalancer"}`, "203.0.113.76")},
		{name: "the plan's, and traefik has another", want: Fail, seen: "ingress/traefik has not ingress.address 203.0.113.76", remedy: "kubectl apply -f out/kubernetes/traefik.yaml", edits: []string{"agent: {", "ingress: {address: 203.0.113.76}\nagent: {"}},
		{name: "the plan's, and nobody has it", want: Warn, seen: "no service has ingress.address 203.0.113.76", edits: []string{"agent: {", "ingress: {address: 203.0.113.76}\nagent: {"}, change: func(_ *testing.T, s *Snapshot) { s.Services.Value[0].Name = "other" }},
	})
}

func TestServiceSharing(t *testing.T) {
	const key = "metallb.io/allow-shared-ip"
	const other = `{"type": "LoadBalancer", "ports": [{"port": 80}], "selector": {"app": "b"}}`
	const local = `{"type": "LoadBalancer", "ports": [{"port": 80}], "selector": {"app": "b"}, "externalTrafficPolicy": "Local"}`
	localToo := func(change func(*testing.T, *Snapshot)) func(*testing.T, *Snapshot) {
		return func(t *testing.T, s *Snapshot) {
			change(t, s)
			s.Services.Value[0].Spec.ExternalTrafficPolicy = "Local"
		}
	}
	judge(t, "service-sharing", []planted{
		{name: "none", want: Pass, seen: "0 addresses of 1 shared"},
		{name: "as MetalLB allows", want: Pass, seen: "1 address of 1 shared", change: annotated(key, "k", "k", other, "203.0.113.75")},
		{name: "without a key", want: Fail, seen: "203.0.113.75: default/b and ingress/traefik do not say that they share", remedy: "metallb.io/allow-shared-ip", change: with("b", other, "203.0.113.75")},
		{name: "different keys", want: Fail, seen: `different keys to share by: "two" and "one"`, change: annotated(key, "one", "two", other, "203.0.113.75")},
		{name: "different policies", want: Fail, seen: "different policies: externalTrafficPolicy Local and Cluster", change: annotated(key, "k", "k", local, "203.0.113.75")},
		{name: "both Local, different selectors", want: Fail, seen: "Local and different selectors", change: localToo(annotated(key, "k", "k", local, "203.0.113.75"))},
		{name: "both Local, one selector", want: Pass, change: localToo(annotated(key, "k", "k", `{"type": "LoadBalancer", "ports": [{"port": 80}], "externalTrafficPolicy": "Local"}`, "203.0.113.75"))},
		{name: "one port", want: Fail, seen: "both have port 443/TCP", change: annotated(key, "k", "k", `{"type": "LoadBalancer", "ports": [{"port": 443, "protocol": "TCP"}]}`, "203.0.113.75")},
		{name: "one port, another protocol", want: Pass, change: annotated(key, "k", "k", `{"type": "LoadBalancer", "ports": [{"port": 443, "protocol": "UDP"}]}`, "203.0.113.75")},
		{name: "wanted, and not given", want: Fail, change: annotated(key, "k", "k", `{"type": "LoadBalancer", "ports": [{"port": 80}], "externalTrafficPolicy": "Local", "loadBalancerIP": "203.0.113.75"}`, "")},
		{name: "of another load balancer", want: Pass, change: with("b", `{"type": "LoadBalancer", "loadBalancerClass": "x/y"}`, "203.0.113.75")},
	})
}

func TestServicePending(t *testing.T) {
	full := func(t *testing.T, s *Snapshot) {
		for i, a := range []string{"203.0.113.76", "203.0.113.77", "203.0.113.78"} {
			addService(t, s, "default", string(rune('c'+i)), `{"type": "LoadBalancer"}`, a)
		}
		addService(t, s, "default", "b", `{"type": "LoadBalancer"}`, "")
	}
	judge(t, "service-pending", []planted{
		{name: "none", want: Pass, seen: "1 of 1 service have an address"},
		{name: "no reason", want: Fail, seen: "default/b has none: no reason can be seen here", remedy: "kubectl -n default describe service b", change: with("b", `{"type": "LoadBalancer"}`, "")},
		{name: "new", want: Warn, seen: "was made 5s ago", change: func(t *testing.T, s *Snapshot) {
			addService(t, s, "default", "b", `{"type": "LoadBalancer"}`, "").CreationTimestamp.Time = taken.Add(-5 * time.Second)
		}},
		{name: "the pool is empty", want: Fail, seen: "every address of the pools that are handed out by themselves is taken", change: full},
		{name: "pinned to one that another has", want: Fail, seen: "pinned to 203.0.113.75, which ingress/traefik has, and they do not say", change: with("b", `{"type": "LoadBalancer", "loadBalancerIP": "203.0.113.75"}`, "")},
		{name: "pinned to one of no pool", want: Fail, seen: "which no pool hands out", change: with("b", `{"type": "LoadBalancer", "loadBalancerIP": "203.0.113.9"}`, "")},
		{name: "pinned to nothing", want: Fail, seen: "it is pinned to x, which is no address", change: with("b", `{"type": "LoadBalancer", "loadBalancerIP": "x"}`, "")},
		{name: "no controller", want: Fail, seen: "MetalLB's controller is not ready", change: func(t *testing.T, s *Snapshot) {
			with("b", `{"type": "LoadBalancer"}`, "")(t, s)
			broken(&s.MetalLB.Value[2], "CrashLoopBackOff", 5)
		}},
		{name: "of another load balancer", want: Pass, change: with("b", `{"type": "LoadBalancer", "loadBalancerClass": "x/y"}`, "")},
		{name: "MetalLB has a class of its own", want: Fail, seen: "default/b has none", change: func(t *testing.T, s *Snapshot) {
			s.MetalLB.Value[2].Spec.Containers[0].Args = []string{"--lb-class=x/y"}
			with("b", `{"type": "LoadBalancer", "loadBalancerClass": "x/y"}`, "")(t, s)
		}},
	})
}

func TestServiceEndpoints(t *testing.T) {
	key := ServiceKey{"ingress", "traefik"}
	on := func(policy string, by map[string]int) func(*testing.T, *Snapshot) {
		return func(_ *testing.T, s *Snapshot) {
			s.Services.Value[0].Spec.ExternalTrafficPolicy = "Cluster"
			if policy == "Local" {
				s.Services.Value[0].Spec.ExternalTrafficPolicy = "Local"
			}
			s.Endpoints[key] = Read[map[string]int]{Value: by}
		}
	}
	judge(t, "service-endpoints", []planted{
		{name: "as planned", want: Pass, seen: "1 service with endpoints"},
		{name: "none", want: Warn, seen: "no ready endpoint", remedy: "kubernetes.io/service-name=traefik", change: on("Cluster", map[string]int{})},
		{name: "Cluster, elsewhere", want: Pass, change: on("Cluster", map[string]int{"edge-controlplane-01": 1})},
		{name: "Local, elsewhere", want: Fail, seen: "Local, and no endpoint on a machine that announces", change: on("Local", map[string]int{"edge-controlplane-01": 1})},
		{name: "Local, here and there", want: Pass, change: on("Local", map[string]int{"edge-controlplane-01": 1, "edge-worker-02": 1})},
	})
}

func TestServiceHandshake(t *testing.T) {
	knock := func(change func(*Knock)) func(*testing.T, *Snapshot) {
		return func(_ *testing.T, s *Snapshot) { change(&s.Knocks.Value[0]) }
	}
	silent := func(k *Knock) { k.Answered, k.Causes = 0, "3 timeout" }
	judge(t, "service-handshake", []planted{
		{name: "answered", want: Pass, seen: "1 of 1 TCP port answered"},
		{name: "no service", want: Skipped, change: func(_ *testing.T, s *Snapshot) { s.Services.Value = nil }},
		{name: "UDP alone", want: Skipped, change: func(_ *testing.T, s *Snapshot) { s.Knocks.Value = nil }},
		{name: "silent", want: Fail, seen: "203.0.113.75:443 (ingress/traefik): no answer (3 timeout)", remedy: "homeward probe 203.0.113.75:443", change: knock(silent)},
		{name: "silent without endpoints", want: Fail, seen: "and it has no ready endpoint", change: func(_ *testing.T, s *Snapshot) {
			silent(&s.Knocks.Value[0])
			s.Endpoints[ServiceKey{"ingress", "traefik"}] = Read[map[string]int]{Value: map[string]int{}}
		}},
		{name: "silent, endpoints not read", want: Fail, seen: "no answer (3 timeout)", change: func(_ *testing.T, s *Snapshot) {
			silent(&s.Knocks.Value[0])
			s.Endpoints[ServiceKey{"ingress", "traefik"}] = Read[map[string]int]{Err: errors.New("x")}
		}},
		{name: "some lost", want: Warn, seen: "2 of 3 handshakes failed", change: knock(func(k *Knock) { k.Answered, k.Causes = 1, "2 timeout" })},
		{name: "this machine could not", want: Unknown, seen: "this machine could not try", change: knock(func(k *Knock) { k.Answered, k.Unknown = 0, 3 })},
		{name: "some this machine could not", want: Pass, change: knock(func(k *Knock) { k.Answered, k.Unknown = 2, 1 })},
		{name: "no way there", want: Unknown, seen: "no route there", change: knock(func(k *Knock) { k.Answered, k.NoWay = 0, true })},
		{name: "on link", want: Warn, seen: "own segment", remedy: "behind the external router", change: knock(func(k *Knock) { k.OnLink = true })},
		{name: "from a node", want: Warn, seen: "this machine is node edge-worker-01", change: func(_ *testing.T, s *Snapshot) { s.Here = []netip.Addr{netip.MustParseAddr("10.0.0.13")} }},
		{name: "from a pod", want: Warn, seen: "in the pod network", change: func(_ *testing.T, s *Snapshot) { s.Here = []netip.Addr{netip.MustParseAddr("10.244.3.3")} }},
		{name: "lets in others only", want: Unknown, seen: "lets in only 192.0.2.0/24", change: func(_ *testing.T, s *Snapshot) {
			silent(&s.Knocks.Value[0])
			s.Services.Value[0].Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24"}
		}},
		{name: "lets us in", want: Fail, change: func(_ *testing.T, s *Snapshot) {
			silent(&s.Knocks.Value[0])
			s.Services.Value[0].Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24", "198.51.100.0/24"}
		}},
		{name: "refused though it lets in others only", want: Fail, change: func(_ *testing.T, s *Snapshot) {
			silent(&s.Knocks.Value[0])
			s.Knocks.Value[0].Refused = true
			s.Services.Value[0].Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24"}
		}},
	})
}
