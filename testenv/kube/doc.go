//go:build linux

// Package kube is a lab of real Kubernetes: etcd, two kube-apiservers,
// kube-controller-manager, two nodes with containerd, kubelet, kube-proxy and a
// MetalLB speaker each, MetalLB's controller, all unmodified, in the networks of
// netlab.
//
//	private 10.90.0.0/24                         external 203.0.113.0/24
//	   gateway .1 (drops spoofed sources)           Router .1 ---- Behind 198.51.100.10
//	        |                                       OnLink .200
//	        +--- edge-controlplane-01 .2, -02 .3 ------+
//	        +--- edge-worker-01 .11, -02 .12 ----------+
//
// What stands between is the product's own: `homeward generate` makes the files
// of the lab's cluster.yaml. Its Kubernetes objects are applied as they are, its
// static pod is given to the kubelets, and the image is what `homeward image
// build` writes. Talos is the one part that is stood in for: addresses, routes,
// rules and certificates are made of a machine's patch as Talos would, and the VIP
// is moved by hand.
//
// # What is not as in a real cluster
//
// Two kubelets share a kernel, so each has its own root of control groups and
// its own mount namespace. kube-proxy, MetalLB and the control plane run as
// processes, not in pods: Pod objects stand in for MetalLB's own. Each has its own
// identity all the same, and may do what a cluster lets it: certificates of nodes and
// components, and accounts out of MetalLB's and flannel's own manifests. There is no
// scheduler: backends are static pods. The control planes have no kubelet, and so no
// pod of ours: the VIP does not need it.
//
// Pods are connected by a veth each and netlab's routes between the nodes, or, with
// PluginFlannel, by real flannel over vxlan: one flanneld a node, a process too.
//
// The lab needs root, containerd, runc and the CNI plugins of Debian's
// containernetworking-plugins.
package kube
