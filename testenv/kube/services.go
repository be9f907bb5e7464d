//go:build linux

package kube

import (
	"fmt"
	"net/netip"
	"strings"

	"homeward/testenv/netlab"
)

// Service is one LoadBalancer Service of the matrix: one backend, one policy, one
// port for TCP and UDP.
type Service struct {
	// Name is the Service's in Kubernetes.
	Name   string
	Policy netlab.Policy
	// Backend is the machine that the backend is on, HostNetwork whether it is a
	// process of the node's own network.
	Backend     string
	HostNetwork bool
	Address     netip.Addr
	Port        uint16
}

// The ports that the backends listen on: pods and host network differ, so that
// no request finds the wrong one.
const (
	podPort  = 8080
	hostPort = 8090
	// traefikPort is where the stand-in for Traefik's pod listens.
	traefikPort = 8000
)

// named gives the Service a name that says what it is.
func (s Service) named() Service {
	kind := "pod"
	if s.HostNetwork {
		kind = "host"
	}
	s.Name = strings.ToLower(fmt.Sprintf("%s-%s-%s", s.Policy, kind, s.Backend))
	return s
}

// Target is what clients ask.
func (s Service) Target() netip.AddrPort { return netip.AddrPortFrom(s.Address, s.Port) }

// Services gives the matrix's Services. Those with policy Cluster share an
// address, and so one machine announces them all. With Local each needs its own:
// the machine of its backend must announce it.
func (l *Lab) Services() []Service {
	pool := l.Net.Addresses.Pool
	first, second := l.Machines[0].Name, l.Machines[1].Name
	services := []Service{
		{Policy: netlab.PolicyLocal, Backend: first, Address: pool[1], Port: 8000},
		{Policy: netlab.PolicyLocal, Backend: first, HostNetwork: true, Address: pool[2], Port: 8000},
		{Policy: netlab.PolicyLocal, Backend: second, Address: pool[4], Port: 8000},
	}
	for i, m := range l.Machines {
		for j, host := range []bool{false, true} {
			services = append(services, Service{
				Policy: netlab.PolicyCluster, Backend: m.Name, HostNetwork: host,
				Address: pool[3], Port: uint16(8000 + 2*i + j),
			})
		}
	}
	for i := range services {
		services[i] = services[i].named()
	}
	return services
}

// Manifest is the Service as Kubernetes takes it, pinned to its address.
func (s Service) Manifest() string {
	app, port := "echo", podPort
	if s.HostNetwork {
		app, port = "echo-host", hostPort
	}
	return fmt.Sprintf(`apiVersion: v1
kind: Service
metadata:
  name: %s
  annotations: {metallb.io/loadBalancerIPs: %s, metallb.io/allow-shared-ip: %s}
spec:
  type: LoadBalancer
  externalTrafficPolicy: %s
  selector: {app: %s, on: %s}
  ports:
  - {name: t, protocol: TCP, port: %d, targetPort: %d}
  - {name: u, protocol: UDP, port: %d, targetPort: %d}
---
`, s.Name, s.Address, s.Policy, s.Policy, app, s.Backend, s.Port, port, s.Port, port)
}

// backendManifest is a static pod that echoes.
const backendManifest = `apiVersion: v1
kind: Pod
metadata:
  name: %s
  namespace: %s
  labels: {%s}
spec:
  hostNetwork: %t
  terminationGracePeriodSeconds: 1
  tolerations: [{operator: Exists}]
  containers:
  - name: echo
    image: ` + echoImage + `
    imagePullPolicy: Never
    args: [":%d"]
    ports: [{name: %s, containerPort: %d}]
`

// backends gives the machine's static pods besides the product's, by name.
func (m *Machine) backends() map[string]string {
	labels := "app: %s, on: " + m.Name
	pods := map[string]string{
		"echo":      fmt.Sprintf(backendManifest, "echo", "default", fmt.Sprintf(labels, "echo"), false, podPort, "echo", podPort),
		"echo-host": fmt.Sprintf(backendManifest, "echo-host", "default", fmt.Sprintf(labels, "echo-host"), true, hostPort, "echo", hostPort),
	}
	if m.index == 0 {
		// What the generated traefik.yaml expects of Traefik's pods.
		pods["traefik"] = fmt.Sprintf(backendManifest, "traefik", "ingress",
			"app.kubernetes.io/name: traefik", false, traefikPort, "http", traefikPort)
	}
	return pods
}
