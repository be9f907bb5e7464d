// Package gitops renders the Kubernetes side of a plan: MetalLB's pool and its
// announcement, the ingress controller's Service, and the values with which Argo
// CD's infrastructure chart gets the same addresses.
//
// It reads nothing and holds no state: same plan, same bytes. The output is YAML
// with LF line ends, without the header of generated files, which the writer of
// the tree adds. Key order is apiVersion, kind, metadata, spec; addresses stand in
// the operator's order and in the text form that MetalLB takes.
package gitops
