package verify

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"homeward/cmd/homeward/internal/report/kube"
	"homeward/netplan"
)

// Options say what is read.
type Options struct {
	Plan   *netplan.Plan
	Client *kube.Client
	// Namespace is MetalLB's.
	Namespace string
	// Timeout bounds one request and one handshake.
	Timeout time.Duration
	Now     func() time.Time
	// Progress is told how many of the steps are done.
	Progress func(done, total int)
}

// The bounds of what goes on at once.
const (
	readers  = 6
	knockers = 16
)

// kubeSystem is where the static pods and what forwards are.
const kubeSystem = "kube-system"

// Gather reads the cluster, and changes nothing. What could not be read is in the
// snapshot, with the reason; it lacks Tool, File, Out, Files and Reservation, which are
// not the cluster's.
func Gather(ctx context.Context, o Options) *Snapshot {
	s := &Snapshot{
		Plan: o.Plan, Taken: o.Now(), Namespace: o.Namespace, Server: o.Client.Server(), Here: ownAddresses(),
		Endpoints: map[ServiceKey]Read[map[string]int]{}, Agents: map[string]AgentInfo{},
	}
	reads := readSteps(ctx, o, s)
	const later = 3
	var mu sync.Mutex
	done, total := 0, len(reads)+later
	step := func() {
		mu.Lock()
		defer mu.Unlock()
		done++
		o.Progress(done, total)
	}
	each(readers, reads, func(read func()) { read(); step() })
	// What follows needs the services and nodes.
	readEndpoints(ctx, o, s)
	step()
	s.Doors = openDoors(ctx, o, s)
	readAgents(ctx, o, s)
	step()
	s.Knocks = knock(ctx, s)
	step()
	return s
}

// readSteps are the reads that do not need one another.
func readSteps(ctx context.Context, o Options, s *Snapshot) []func() {
	pods := "/api/v1/namespaces/" + o.Namespace + "/pods"
	const metallb = "/apis/metallb.io/v1beta1/"
	return []func(){
		func() { s.Version = getting[Version](ctx, o, "/version") },
		func() { s.Nodes = listing[corev1.Node](ctx, o, "/api/v1/nodes", "") },
		func() {
			s.ReturnPath = listing[corev1.Pod](ctx, o, "/api/v1/namespaces/"+kubeSystem+"/pods", kube.ReturnPathSelector)
		},
		func() {
			s.MetalLBNamespace.Value, s.MetalLBNamespace.Err = maybe[corev1.Namespace](ctx, o, "/api/v1/namespaces/"+o.Namespace)
		},
		func() { s.MetalLB = listing[corev1.Pod](ctx, o, pods, "") },
		func() { s.Pools = listing[Pool](ctx, o, metallb+"ipaddresspools", "") },
		func() { s.L2 = listing[Advertisement](ctx, o, metallb+"l2advertisements", "") },
		func() { s.BGP = listing[Advertisement](ctx, o, metallb+"bgpadvertisements", "") },
		func() { s.Services = listing[corev1.Service](ctx, o, "/api/v1/services", "") },
		func() {
			s.APIEndpoints.Value, s.APIEndpoints.Err = kube.EndpointSlices(ctx, o.Client, "default", "kubernetes")
		},
		func() { s.Proxy = readProxy(ctx, o) },
	}
}

func listing[T any](ctx context.Context, o Options, path, selector string) Read[[]T] {
	list, err := kube.List[T](ctx, o.Client, path, selector)
	return Read[[]T]{list, err}
}

func getting[T any](ctx context.Context, o Options, path string) Read[T] {
	v, err := kube.Get[T](ctx, o.Client, path)
	if err != nil {
		return Read[T]{Err: err}
	}
	return Read[T]{Value: *v}
}

// maybe reads an object that need not be there: nil where it is not.
func maybe[T any](ctx context.Context, o Options, path string) (*T, error) {
	v, err := kube.Get[T](ctx, o.Client, path)
	if errors.Is(err, kube.ErrAbsent) {
		return nil, nil
	}
	return v, err
}

func readProxy(ctx context.Context, o Options) Read[Proxy] {
	const sets, maps = "/apis/apps/v1/namespaces/" + kubeSystem + "/daemonsets/", "/api/v1/namespaces/" + kubeSystem + "/configmaps/"
	var p Proxy
	var err error
	// The first that cannot be read is enough: what it is can change the answer.
	for _, read := range []func(){
		func() { p.KubeProxy, err = maybe[appsv1.DaemonSet](ctx, o, sets+"kube-proxy") },
		func() { p.KubeProxyConfig, err = maybe[corev1.ConfigMap](ctx, o, maps+"kube-proxy") },
		func() { p.Cilium, err = maybe[appsv1.DaemonSet](ctx, o, sets+"cilium") },
		func() { p.CiliumConfig, err = maybe[corev1.ConfigMap](ctx, o, maps+"cilium-config") },
	} {
		if read(); err != nil {
			break
		}
	}
	return Read[Proxy]{p, err}
}

// readEndpoints reads the endpoints of every service with an address.
func readEndpoints(ctx context.Context, o Options, s *Snapshot) {
	var mu sync.Mutex
	each(readers, s.balanced(), func(b balanced) {
		slices, err := kube.EndpointSlices(ctx, o.Client, b.key.Namespace, b.key.Name)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			s.Endpoints[b.key] = Read[map[string]int]{Err: err}
			return
		}
		s.Endpoints[b.key] = Read[map[string]int]{Value: kube.ReadyEndpoints(slices)}
	})
}

// each does something with every item, a few at a time.
func each[T any](atOnce int, items []T, do func(T)) {
	var running sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, item := range items {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			do(item)
		})
	}
	running.Wait()
}

// ownAddresses are this machine's; none where it does not say.
func ownAddresses() []netip.Addr {
	list, _ := net.InterfaceAddrs()
	var out []netip.Addr
	for _, a := range list {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, p.Addr().Unmap())
		}
	}
	return out
}
