// Package kube reads from the Kubernetes API what a report uses: nodes, MetalLB's
// workloads, return-path pods, and the services with an address of a load balancer
// and their ready endpoints. It only lists. A kubeconfig is read with client-go's
// own loader, so exec plugins, certificates and contexts work as in kubectl; the
// lists are plain GETs, because client-go's typed clients would triple what they
// need.
package kube
