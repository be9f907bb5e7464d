package kube

import (
	"context"

	discoveryv1 "k8s.io/api/discovery/v1"
)

// EndpointSlices are those of a service.
func EndpointSlices(ctx context.Context, c *Client, namespace, service string) ([]discoveryv1.EndpointSlice, error) {
	return List[discoveryv1.EndpointSlice](ctx, c,
		"/apis/discovery.k8s.io/v1/namespaces/"+namespace+"/endpointslices", discoveryv1.LabelServiceName+"="+service)
}

// ReadyEndpoints counts the ready IPv4 endpoints of a service by node; one that names
// no node is under "". One that several slices name counts once.
func ReadyEndpoints(slices []discoveryv1.EndpointSlice) map[string]int {
	seen := map[[2]string]bool{}
	counts := map[string]int{}
	for _, s := range slices {
		if s.AddressType != discoveryv1.AddressTypeIPv4 {
			continue
		}
		for _, e := range s.Endpoints {
			node := ""
			if e.NodeName != nil {
				node = *e.NodeName
			}
			if e.Conditions.Ready != nil && !*e.Conditions.Ready || len(e.Addresses) == 0 || seen[[2]string{node, e.Addresses[0]}] {
				continue
			}
			seen[[2]string{node, e.Addresses[0]}] = true
			counts[node]++
		}
	}
	return counts
}
