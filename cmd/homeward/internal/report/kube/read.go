package kube

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"homeward/cmd/homeward/internal/report"
)

// Read lists what a report uses. What could not be read is in the source's details,
// and nil in the cluster; a cluster of which nothing could be read is nil. The error is
// for a context that ended.
func Read(ctx context.Context, c *Client) (*report.Cluster, report.Source, error) {
	r := &reader{ctx: ctx, client: c}
	out := &report.Cluster{}
	for _, step := range []func(*report.Cluster) error{r.nodes, r.controller, r.speakers, r.returnPath, r.services} {
		r.steps++
		if err := step(out); err != nil {
			r.failed++
			if text := err.Error(); !slices.Contains(r.unread, text) { // some read the same list
				r.unread = append(r.unread, text)
			}
		}
		if ctx.Err() != nil {
			return nil, report.Source{}, ctx.Err()
		}
		if r.failed == r.steps && r.steps == 1 {
			// Nodes come first: without them nothing else counts.
			return nil, report.Source{State: report.SourceFailed, Detail: r.unread}, nil
		}
	}
	if len(r.unread) > 0 {
		return out, report.Source{State: report.SourcePartial, Detail: r.unread}, nil
	}
	return out, report.Source{State: report.SourceRead}, nil
}

type reader struct {
	ctx           context.Context
	client        *Client
	steps, failed int
	unread        []string
}

func (r *reader) nodes(out *report.Cluster) error {
	nodes, err := List[corev1.Node](r.ctx, r.client, "/api/v1/nodes", "")
	for _, n := range nodes {
		_, excluded := n.Labels[ExcludedLabel]
		out.Nodes = append(out.Nodes, report.Node{Name: n.Name, Ready: NodeReady(n), Excluded: excluded})
	}
	return err
}

func (r *reader) controller(out *report.Cluster) error {
	for _, labels := range metallbSelectors(Controller) {
		found, err := List[appsv1.Deployment](r.ctx, r.client, "/apis/apps/v1/deployments", labels)
		if err != nil {
			return err
		}
		for _, d := range found {
			out.Controller = report.Workload{Found: true, Declared: 1, Ready: int(d.Status.ReadyReplicas), Namespace: d.Namespace, Object: d.Name}
			if d.Spec.Replicas != nil {
				out.Controller.Declared = int(*d.Spec.Replicas)
			}
		}
		if len(found) > 0 {
			return nil
		}
	}
	return nil
}

func (r *reader) speakers(out *report.Cluster) error {
	nodes := []string{}
	for _, labels := range metallbSelectors(Speaker) {
		ready, err := r.readyOn(labels)
		if err != nil {
			return err
		}
		nodes = append(nodes, ready...)
	}
	slices.Sort(nodes)
	out.Speakers = slices.Compact(nodes)
	return nil
}

func (r *reader) returnPath(out *report.Cluster) error {
	nodes, err := r.readyOn(ReturnPathSelector)
	if err == nil {
		out.ReturnPath = nodes
	}
	return err
}

// readyOn gives the nodes with a ready pod of these labels, sorted; never nil.
func (r *reader) readyOn(labels string) ([]string, error) {
	pods, err := List[corev1.Pod](r.ctx, r.client, "/api/v1/pods", labels)
	if err != nil {
		return nil, err
	}
	nodes := []string{}
	for _, p := range pods {
		if PodReady(p) {
			nodes = append(nodes, p.Spec.NodeName)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), nil
}

// announced is MetalLB's ServiceL2Status, as far as it is used.
type announced struct {
	Status struct {
		Node             string `json:"node"`
		ServiceName      string `json:"serviceName"`
		ServiceNamespace string `json:"serviceNamespace"`
	} `json:"status"`
}

func (r *reader) services(out *report.Cluster) error {
	services, err := List[corev1.Service](r.ctx, r.client, "/api/v1/services", "")
	if err != nil {
		return err
	}
	statuses, err := List[announced](r.ctx, r.client, "/apis/metallb.io/v1beta1/servicel2statuses", "")
	if err != nil && !errors.Is(err, ErrAbsent) {
		r.unread = append(r.unread, err.Error())
	}
	for _, s := range services {
		x := report.Service{Namespace: s.Namespace, Name: s.Name, Local: s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal}
		for _, i := range s.Status.LoadBalancer.Ingress {
			if a, err := netip.ParseAddr(i.IP); err == nil && a.Is4() {
				x.Addresses = append(x.Addresses, a)
			}
		}
		if len(x.Addresses) == 0 {
			continue
		}
		for _, a := range statuses {
			if a.Status.ServiceNamespace == s.Namespace && a.Status.ServiceName == s.Name && a.Status.Node != "" {
				x.Announcers = append(x.Announcers, a.Status.Node)
			}
		}
		slices, err := EndpointSlices(r.ctx, r.client, s.Namespace, s.Name)
		if err != nil {
			return err
		}
		x.Endpoints = ReadyEndpoints(slices)
		out.Services = append(out.Services, x)
	}
	return nil
}
