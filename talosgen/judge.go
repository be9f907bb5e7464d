package talosgen

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"homeward/netplan"
)

// Judge compares a base configuration with the plan in what Homeward does not
// write itself, and says what differs: a config from such a base is valid, and
// still not what the plan means. Empty when nothing differs. It repeats names,
// networks and versions, never anything secret.
func Judge(base []byte, p *netplan.Plan) ([]string, error) {
	docs, _, err := splitBase(base)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(docs, func(d *document) bool { return d.kind == kindV1Alpha1 && lookup(d.root, "machine") != nil })
	if i < 0 {
		return nil, nil
	}
	j := &judgement{root: docs[i].root}
	j.compare(p.Name, "cluster", "clusterName")
	j.compare(p.KubeAPI.Endpoint, "cluster", "controlPlane", "endpoint")
	j.network(p.Kubernetes.PodCIDR.String(), "cluster", "network", "podSubnets")
	j.network(p.Kubernetes.ServiceCIDR.String(), "cluster", "network", "serviceSubnets")
	j.cni(p.Kubernetes.CNI)
	j.version(p.Kubernetes.Version)
	return j.differs, nil
}

// judgement gathers what differs.
type judgement struct {
	root    *yaml.Node
	differs []string
}

func (j *judgement) differ(path []string, is, plan string) {
	j.differs = append(j.differs, fmt.Sprintf("%s is %s, the plan's is %s", strings.Join(path, "."), netplan.Quote(is), netplan.Quote(plan)))
}

// compare looks at one value, where the base has it.
func (j *judgement) compare(plan string, path ...string) {
	if n := lookup(j.root, path...); n != nil && n.Kind == yaml.ScalarNode && strings.TrimRight(n.Value, "/") != plan {
		j.differ(path, n.Value, plan)
	}
}

// network looks whether a list of networks has the plan's.
func (j *judgement) network(plan string, path ...string) {
	list := lookup(j.root, path...)
	if list == nil || len(list.Content) == 0 {
		return
	}
	var have []string
	for _, n := range list.Content {
		have = append(have, resolve(n).Value)
	}
	if !slices.Contains(have, plan) {
		j.differ(path, strings.Join(have, ", "), plan)
	}
}

// cni knows that a base without a word of it installs flannel.
func (j *judgement) cni(plan string) {
	path := []string{"cluster", "network", "cni", "name"}
	name := "flannel"
	if n := lookup(j.root, path...); n != nil {
		name = n.Value
	}
	if (name == "flannel") != (plan == "flannel") {
		j.differ(path, name, plan)
	}
}

// version reads the kubelet's tag.
func (j *judgement) version(plan string) {
	path := []string{"machine", "kubelet", "image"}
	n := lookup(j.root, path...)
	if n == nil || plan == "" {
		return
	}
	image, _, _ := strings.Cut(n.Value, "@")
	at := strings.LastIndexByte(image, ':')
	if at < 0 || strings.Contains(image[at:], "/") {
		return // no tag: nothing is said of the version
	}
	if tag := image[at+1:]; tag != plan {
		j.differ(path, tag, plan)
	}
}

// SameCluster says whether two bases belong to one cluster, by its id. Bases
// without one are not told apart.
func SameCluster(a, b []byte) (bool, error) {
	var ids []string
	for _, base := range [][]byte{a, b} {
		docs, _, err := splitBase(base)
		if err != nil {
			return false, err
		}
		for _, d := range docs {
			if id := lookup(d.root, "cluster", "id"); d.kind == kindV1Alpha1 && id != nil {
				ids = append(ids, id.Value)
			}
		}
	}
	return len(ids) < 2 || ids[0] == ids[1], nil
}
