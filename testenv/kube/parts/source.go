package parts

import (
	"strings"

	"golang.org/x/mod/module"
)

// Versions of what is built. MetalLB v0.16.2 cannot be: it requires a version of
// frr-k8s that the module proxy does not serve. flannel v0.28.10 cannot be either, for
// a cloud's library. The plugin that gives pods a flannel network is the one that the
// CNI project had until 0.9.1: its later home is not served.
const (
	Kubernetes    = "v1.36.3"
	Etcd          = "v3.6.8"
	MetalLB       = "v0.15.2"
	Flannel       = "v0.28.4"
	FlannelPlugin = "v0.9.1"
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
	// newer are modules to take at a later version than the module asks for, which
	// the proxy does not serve.
	newer []module.Version
	// cgo says that it has C code in it, and so needs a C compiler and the machine's
	// libraries.
	cgo     bool
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
		{
			name: "flannel", module: flannelModule, version: Flannel, cgo: true,
			newer:    []module.Version{{Path: "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common", Version: "v1.3.190"}},
			ldflags:  "-X " + flannelModule + "/pkg/version.Version=" + Flannel,
			programs: []program{{"flanneld", flannelModule}},
		},
		{
			name: "cni-flannel", module: cniModule, version: FlannelPlugin,
			programs: []program{{"flannel", cniModule + "/plugins/meta/flannel"}},
		},
	}
}

const (
	metallbModule = "go.universe.tf/metallb"
	flannelModule = "github.com/flannel-io/flannel"
	cniModule     = "github.com/containernetworking/plugins"
)

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
