//go:build linux

package kube

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
)

// serviceFaults are those of services. The pool has one address free, or none.
func serviceFaults(l *Lab) []fault {
	vip := l.Net.Addresses.VIP.String()
	elsewhere := poolObject("elsewhere", "192.0.2.0/28", ", autoAssign: false") + "---\n"
	return []fault{
		object("an address outside the plan", "service-addresses", "fail",
			elsewhere+serviceObject("outside", "metallb.io/address-pool: elsewhere", "")),
		object("the VIP as externalIP", "service-addresses", "fail",
			serviceObject("thief", "", ", externalIPs: ["+vip+"], loadBalancerClass: none.invalid/none")),
		object("a service pinned outside the pool", "service-pins", "fail", serviceObject("pinned", "", ", loadBalancerIP: 203.0.113.99")),
		object("a service pinned twice", "service-pins", "fail",
			serviceObject("twice", "metallb.io/loadBalancerIPs: 203.0.113.75", ", loadBalancerIP: 203.0.113.75")),
		object("two services with different policies", "service-sharing", "fail",
			serviceObject("sharer", "metallb.io/loadBalancerIPs: 203.0.113.78, metallb.io/allow-shared-ip: Cluster", ", externalTrafficPolicy: Local")),
		planted("a service without an address", "service-pending", "fail",
			func(s *verifySite) {
				s.apply(serviceObject("waiting", "metallb.io/loadBalancerIPs: 203.0.113.75", ""))
			},
			func(s *verifySite) { s.kubectl("delete", "service", "waiting") }),
		// Its port is UDP, so that nobody shakes hands with it.
		object("a service without endpoints", "service-endpoints", "warn", `apiVersion: v1
kind: Service
metadata: {name: empty, annotations: {metallb.io/loadBalancerIPs: 203.0.113.78, metallb.io/allow-shared-ip: Cluster}}
spec: {type: LoadBalancer, selector: {app: nobody}, ports: [{name: x, port: 9100, protocol: UDP}]}
`),
	}
}

// forwardFaults are those of what forwards services.
func forwardFaults() []fault {
	mode := func(name, result, mode string) fault {
		return planted(name, "kube-proxy", result,
			func(s *verifySite) { s.apply(kubeProxyOf(mode)) }, func(s *verifySite) { s.apply(kubeProxyOf("nftables")) })
	}
	const cilium = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: cilium, namespace: kube-system}
spec:
  selector: {matchLabels: {k8s-app: cilium}}
  template: {metadata: {labels: {k8s-app: cilium}}, spec: {containers: [{name: cilium-agent, image: none}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cilium-config, namespace: kube-system}
data: {kube-proxy-replacement: %q}
`
	return []fault{
		mode("kube-proxy in mode ipvs", "fail", "ipvs"),
		mode("kube-proxy in a mode of tomorrow", "unknown", "ebpf"),
		object("Cilium instead of kube-proxy", "kube-proxy", "fail", fmt.Sprintf(cilium, "true")),
		object("Cilium that is not in the plan", "kube-proxy", "warn", fmt.Sprintf(cilium, "false")),
		planted("no kube-proxy", "kube-proxy", "unknown",
			func(s *verifySite) { s.kubectl("-n", "kube-system", "delete", "daemonset", "kube-proxy") },
			func(s *verifySite) { s.apply(kubeProxyOf("nftables")) }),
	}
}

// apiFaults are those of the API's address.
func apiFaults(l *Lab) []fault {
	c := l.Control()
	vip := l.Net.Addresses.VIP
	return []fault{
		planted("nobody has the VIP", "api-address", "fail", func(s *verifySite) { s.must(c.ReleaseVIP()) }, func(s *verifySite) { s.must(c.HoldVIP()) }),
		planted("the VIP's replies leave by the private NIC", "api-address", "fail", func(s *verifySite) {
			restore, err := c.DropVIPRule()
			s.must(err)
			s.Cleanup(func() { s.must(restore()) })
		}, func(*verifySite) {}),
		planted("somebody else has the VIP", "api-address", "fail", func(s *verifySite) {
			s.must(c.ReleaseVIP())
			s.must(l.Net.Router.AddAddress("lo", netip.PrefixFrom(vip, 32)))
			s.impostor(net.JoinHostPort(vip.String(), fmt.Sprint(apiPort)))
		}, func(s *verifySite) {
			s.must(l.Net.Router.RemoveAddress("lo", netip.PrefixFrom(vip, 32)))
			s.must(c.HoldVIP())
		}),
		object("an API server at the VIP", "api-endpoints", "fail", fmt.Sprintf(`apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: verify, namespace: default, labels: {kubernetes.io/service-name: kubernetes}}
addressType: IPv4
endpoints: [{addresses: [%q]}]
ports: [{name: https, port: 6443, protocol: TCP}]
`, vip)),
	}
}

// impostor answers TLS at an address of the router, until the test ends, with the right
// name and a certificate of another cluster.
func (s *verifySite) impostor(address string) {
	s.Helper()
	p, err := newPKI(s.TempDir())
	s.must(err)
	host, _, err := net.SplitHostPort(address)
	s.must(err)
	s.must(p.issue("other", []string{host}))
	pair, err := tls.LoadX509KeyPair(p.file("other.crt"), p.file("other.key"))
	s.must(err)
	raw, err := s.lab.Net.Router.Listen("tcp4", address)
	s.must(err)
	listener := tls.NewListener(raw, &tls.Config{Certificates: []tls.Certificate{pair}})
	s.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = c.(*tls.Conn).HandshakeContext(context.Background())
			}()
		}
	}()
}
