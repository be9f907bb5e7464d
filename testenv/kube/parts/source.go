package parts

import "strings"

// Versions of what is built. MetalLB v0.16.2 cannot be: it requires a version of
// frr-k8s that the module proxy does not serve.
const (
	Kubernetes = "v1.36.3"
	Etcd       = "v3.6.8"
	MetalLB    = "v0.15.2"
)

// source is one Go module whose main packages are built.
type source struct {
	// name is the directory's in the cache, before the version.
	name            string
	module, version string
	// staging says that the module's go.mod requires k8s.io modules at v0.0.0,
	// which its own repository replaces by directories; published they have the
	// version v0 of the same minor.
	staging bool
	ldflags string
	// programs are the main packages by the name of the program.
	programs []program
}

type program struct{ name, pkg string }

// sources lists everything, the longest build first: who stops early has the
// part that took longest.
func sources() []source {
	return []source{
		{
			name: "kubernetes", module: "k8s.io/kubernetes", version: Kubernetes, staging: true,
			ldflags: kubernetesVersion(),
			programs: []program{
				{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"},
				{"kubelet", "k8s.io/kubernetes/cmd/kubelet"},
				{"kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy"},
				{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"},
				{"kubectl", "k8s.io/kubernetes/cmd/kubectl"},
			},
		},
		{
			name: "etcd", module: "go.etcd.io/etcd/server/v3", version: Etcd,
			programs: []program{{"etcd", "go.etcd.io/etcd/server/v3"}},
		},
		{
			name: "metallb", module: metallbModule, version: MetalLB,
			programs: []program{
				{"metallb-controller", metallbModule + "/controller"},
				{"metallb-speaker", metallbModule + "/speaker"},
			},
		},
	}
}

const metallbModule = "go.universe.tf/metallb"

// kubernetesVersion is what the release build stamps in. Without it the programs
// call themselves v0.0.0, and the API server refuses to emulate that.
func kubernetesVersion() string {
	number := strings.Split(strings.TrimPrefix(Kubernetes, "v"), ".")
	var flags []string
	for _, set := range []string{
		"gitVersion=" + Kubernetes, "gitMajor=" + number[0], "gitMinor=" + number[1],
		"gitTreeState=clean", "gitCommit=homeward-lab",
	} {
		flags = append(flags, "-X", "k8s.io/component-base/version."+set)
	}
	return strings.Join(flags, " ")
}
