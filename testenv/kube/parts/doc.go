// Package parts builds the programs of a real cluster (Kubernetes, etcd, MetalLB, flannel)
// from the Go module proxy and keeps them in a cache, so that the lab needs no
// container registry and no download page.
//
// # The cache
//
//	<cache>/kubernetes-v1.36.3-amd64/go.mod   written here: the staging modules replaced
//	                                /bin/...  the finished programs
//
// The cache is homeward/kube below the user's cache directory, or what
// HOMEWARD_KUBE_CACHE names. A program appears under its name only when it is
// whole, so an interrupted build goes on where it stopped: finished programs
// stay, and the Go build cache has the packages of the unfinished one. Several
// processes may ask at once; one builds and the others wait.
//
// The first build takes forty minutes of processor time; afterwards nothing is run at
// all. GOFLAGS of the caller counts, so
// GOFLAGS=-p=1 keeps a shared machine usable.
package parts
