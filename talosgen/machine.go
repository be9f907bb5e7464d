package talosgen

import (
	"net/netip"

	"homeward/netplan"
)

// labelExcluded is set on control planes by generated base configurations;
// MetalLB never announces from a node that has it.
const labelExcluded = "node.kubernetes.io/exclude-from-external-load-balancers"

// Kinds that Talos 1.14 adds and machinery 1.13 does not know.
const (
	kindKubeNode      = "KubeNodeConfig"
	kindKubeStaticPod = "KubeStaticPodConfig"
	kindKubeAPIServer = "KubeAPIServerConfig"
)

// v1alpha1Patch is what we say in the v1alpha1 document. Machinery's own type
// cannot be used: it would write an empty token and type.
type v1alpha1Patch struct {
	Machine *machinePatch `yaml:"machine,omitempty"`
	Cluster *clusterPatch `yaml:"cluster,omitempty"`
}

type machinePatch struct {
	CertSANs   []string         `yaml:"certSANs,omitempty"`
	Kubelet    *kubeletPatch    `yaml:"kubelet,omitempty"`
	Pods       []map[string]any `yaml:"pods,omitempty"`
	NodeLabels map[string]any   `yaml:"nodeLabels,omitempty"`
}

type kubeletPatch struct {
	NodeIP nodeIP `yaml:"nodeIP"`
}

type nodeIP struct {
	ValidSubnets []string `yaml:"validSubnets"`
}

type clusterPatch struct {
	APIServer *apiServerPatch `yaml:"apiServer,omitempty"`
	Etcd      *etcdPatch      `yaml:"etcd,omitempty"`
}

type apiServerPatch struct {
	CertSANs []string `yaml:"certSANs"`
}

type etcdPatch struct {
	AdvertisedSubnets []string `yaml:"advertisedSubnets"`
}

// kubeHead begins each of the documents that are declared here.
type kubeHead struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
}

type kubeNode struct {
	kubeHead `yaml:",inline"`
	NodeIP   nodeIP         `yaml:"nodeIP"`
	Labels   map[string]any `yaml:"labels,omitempty"`
}

type kubeStaticPod struct {
	kubeHead `yaml:",inline"`
	Name     string         `yaml:"name"`
	Pod      map[string]any `yaml:"pod"`
}

type kubeAPIServer struct {
	kubeHead      `yaml:",inline"`
	CertExtraSANs []string `yaml:"certExtraSANs"`
}

func head(kind string) kubeHead { return kubeHead{APIVersion: "v1alpha1", Kind: kind} }

// kubernetes113 is the Kubernetes side of a machine in one v1alpha1 document.
func (s *stream) kubernetes113(p *netplan.Plan, m netplan.Machine, pod map[string]any) {
	doc := v1alpha1Patch{Machine: &machinePatch{
		Kubelet:    &kubeletPatch{NodeIP: nodeIP{ValidSubnets: nodeSubnets(p)}},
		NodeLabels: nodeLabels(p, m),
	}}
	if pod != nil {
		doc.Machine.Pods = []map[string]any{pod}
	}
	if m.Role == netplan.RoleControlPlane {
		doc.Machine.CertSANs = p.KubeAPI.SANs
		doc.Cluster = &clusterPatch{Etcd: &etcdPatch{AdvertisedSubnets: nodeSubnets(p)}}
		if len(p.KubeAPI.SANs) > 0 {
			doc.Cluster.APIServer = &apiServerPatch{CertSANs: p.KubeAPI.SANs}
		}
	}
	s.value("v1alpha1", doc)
}

// kubernetes114 is the same in documents of their own; the apid's certificate
// names and etcd's networks stay in v1alpha1.
func (s *stream) kubernetes114(p *netplan.Plan, m netplan.Machine, pod map[string]any) {
	s.value(kindKubeNode, kubeNode{
		kubeHead: head(kindKubeNode),
		NodeIP:   nodeIP{ValidSubnets: nodeSubnets(p)},
		Labels:   nodeLabels(p, m),
	})
	if pod != nil {
		s.value(kindKubeStaticPod, kubeStaticPod{kubeHead: head(kindKubeStaticPod), Name: netplan.PodName, Pod: pod})
	}
	if m.Role != netplan.RoleControlPlane {
		return
	}
	doc := v1alpha1Patch{Cluster: &clusterPatch{Etcd: &etcdPatch{AdvertisedSubnets: nodeSubnets(p)}}}
	if len(p.KubeAPI.SANs) > 0 {
		s.value(kindKubeAPIServer, kubeAPIServer{kubeHead: head(kindKubeAPIServer), CertExtraSANs: p.KubeAPI.SANs})
		doc.Machine = &machinePatch{CertSANs: p.KubeAPI.SANs}
	}
	s.value("v1alpha1", doc)
}

// nodeSubnets are the networks a node's own address may come from: the private
// one, without a VIP that lies in it. On OpenStack the ingress's address lies there
// too, and kube-proxy's IPVS mode gives it to every node. Exclusions stand last.
func nodeSubnets(p *netplan.Plan) []string {
	subnets := []string{p.Cluster.CIDR.String()}
	for _, moving := range []netip.Addr{p.KubeAPI.VIP, p.Ingress.Fixed} {
		if moving.IsValid() && p.Cluster.CIDR.Contains(moving) {
			subnets = append(subnets, "!"+netip.PrefixFrom(moving, 32).String())
		}
	}
	return subnets
}

// nodeLabels are ours, and the removal of the base's exclusion where control
// planes are the only machines that could announce. Nil when there are none: on
// OpenStack nobody needs to be told which machines have an external NIC.
func nodeLabels(p *netplan.Plan, m netplan.Machine) map[string]any {
	labels := map[string]any{}
	if m.External && p.External != nil && len(p.External.IngressPool) > 0 {
		labels[netplan.LabelExternal] = "true"
	}
	announces := len(labels) > 0 || p.OpenStack != nil
	if announces && m.Role == netplan.RoleControlPlane && !p.HasWorkers() {
		labels[labelExcluded] = map[string]string{"$patch": "delete"}
	}
	if len(labels) == 0 {
		return nil
	}
	return labels
}
