package kube

import (
	discoveryv1 "k8s.io/api/discovery/v1"
)

// endpoints counts the ready IPv4 endpoints of a service by node. One that several
// slices name counts once.
func (r *reader) endpoints(namespace, name string) (map[string]int, error) {
	slices, err := list[discoveryv1.EndpointSlice](r.ctx, r.client,
		"/apis/discovery.k8s.io/v1/namespaces/"+namespace+"/endpointslices", discoveryv1.LabelServiceName+"="+name)
	if err != nil {
		return nil, err
	}
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
	return counts, nil
}
