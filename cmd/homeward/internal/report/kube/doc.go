// Package kube reads from the Kubernetes API: for a report nodes, MetalLB's workloads,
// return-path pods, and the services with an address of a load balancer and their
// ready endpoints ([Read]); for package verify whatever it lists and gets. It only
// reads. A kubeconfig is read with client-go's own loader, so exec plugins,
// certificates and contexts work as in kubectl; the lists are plain GETs, because
// client-go's typed clients would triple what they need.
package kube
