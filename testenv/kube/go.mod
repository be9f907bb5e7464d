// A module of its own: what the lab needs beyond the product stays out of the
// product's go.mod. The parts of Kubernetes are built in modules that the lab
// writes into its cache, so they are not even here.
module homeward/testenv/kube

go 1.26.6

replace homeward => ../..

require (
	golang.org/x/mod v0.43.0
	golang.org/x/sys v0.50.0
)
