package talosgen

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"homeward/netplan"
)

// refusal collects what in a base would fight with our documents. It never
// quotes a value, only names, kinds, lines and numbers.
type refusal struct {
	renderer *Renderer
	machine  netplan.Machine
	errs     []error
}

// refuse gives every reason why our documents cannot go into this base, nil when
// they can. The base is without ours by now.
func (r *Renderer) refuse(docs []*document, m netplan.Machine) error {
	f := &refusal{renderer: r, machine: m}
	i := slices.IndexFunc(docs, func(d *document) bool { return d.kind == kindV1Alpha1 && lookup(d.root, "machine") != nil })
	if i < 0 {
		return errors.New("no machine configuration: give the file that talosctl gen config wrote for this role")
	}
	f.role(docs[i])
	f.contract(docs, docs[i])
	f.legacyNetwork(docs[i])
	f.pods(docs[i], lookup(docs[i].root, "machine", "pods"))
	for _, d := range docs {
		if d.root == nil || d.kind == kindV1Alpha1 {
			continue
		}
		f.links(d)
		f.rule(d)
		f.vip(d)
		f.table(d, d.root)
		if d.kind == kindKubeStaticPod && (d.name == netplan.PodName || podNamed(lookup(d.root, "pod"))) {
			f.add(d, d.root, "takes the name of Homeward's static pod: rename it")
		}
	}
	return errors.Join(f.errs...)
}

// add notes a reason, with the line of a node in the file.
func (f *refusal) add(d *document, n *yaml.Node, format string, args ...any) {
	f.errs = append(f.errs, fmt.Errorf("line %d: %s: %s", d.at(n), d.id(), fmt.Sprintf(format, args...)))
}

func (f *refusal) role(d *document) {
	want := f.machine.Role
	if got := lookup(d.root, "machine", "type"); got == nil || got.Value != string(want) {
		f.add(d, got, "machine.type is not %s, which %s is in the plan: give the base of that role", want, f.machine.Name)
	}
}

// contract refuses a base that was made for another Talos. Since 1.14 a generated
// base has documents for the Kubernetes side, and the fields they replace may not
// be set beside them.
func (f *refusal) contract(docs []*document, main *document) {
	newer := slices.IndexFunc(docs, func(d *document) bool {
		return strings.HasPrefix(d.kind, "Kube") && !strings.HasPrefix(d.kind, "KubeSpan")
	})
	if f.renderer.shape == Shape113 {
		if newer >= 0 {
			f.add(docs[newer], nil, "is of Talos 1.14 and later, but talos.version is %s: make the base with --talos-version v1.13", f.renderer.plan.Talos.Version)
		}
		return
	}
	advice := fmt.Sprintf("is of Talos 1.13, but talos.version is %s: make the base with --talos-version v1.14", f.renderer.plan.Talos.Version)
	if newer < 0 {
		f.add(main, nil, "without documents for Kubernetes %s", advice)
	}
	for _, path := range [][]string{{"machine", "kubelet", "nodeIP"}, {"cluster", "apiServer"}} {
		if n := lookup(main.root, path...); n != nil {
			f.add(main, n, "%s %s", strings.Join(path, "."), advice)
		}
	}
}

// legacyNetwork refuses what the v1alpha1 document says of our links, the
// hostname and the resolvers: beside documents of their own Talos refuses some,
// and merges the rest with ours.
func (f *refusal) legacyNetwork(d *document) {
	for _, key := range []string{"hostname", "nameservers", "searchDomains", "disableSearchDomain"} {
		n := lookup(d.root, "machine", "network", key)
		if n == nil || key != "hostname" && !f.resolves() || n.Value == "" && len(n.Content) == 0 {
			continue
		}
		f.add(d, n, "machine.network.%s cannot stand beside the document that the plan gives for it: remove it", key)
	}
	if n := lookup(d.root, "machine", "features", "stableHostname"); n != nil && n.Value == "true" {
		f.add(d, n, "machine.features.stableHostname cannot stand beside HostnameConfig: make the base with --talos-version v1.13 or later")
	}
	interfaces := lookup(d.root, "machine", "network", "interfaces")
	if interfaces == nil {
		return
	}
	for _, entry := range interfaces.Content {
		if why := f.mayBeOurs(resolve(entry)); why != "" {
			f.add(d, entry, "machine.network.interfaces has an entry that %s: configure links by documents (LinkConfig and the like), or select another NIC by its hardwareAddr", why)
		}
	}
}

// resolves says that the plan gives this machine a ResolverConfig.
func (f *refusal) resolves() bool {
	return f.renderer.plan.Static(f.machine) && len(f.renderer.plan.Cluster.DNS) > 0
}

// mayBeOurs says why an old-style entry may configure one of our links, empty
// when it surely does not: it is no NIC, or it names another NIC's MAC.
func (f *refusal) mayBeOurs(entry *yaml.Node) string {
	if scalar(entry, "dummy") == "true" || lookup(entry, "wireguard") != nil {
		return ""
	}
	selected := lookup(entry, "deviceSelector")
	if selected == nil {
		if name := scalar(entry, "interface"); isAlias(name) {
			return fmt.Sprintf("configures our link %s", name)
		}
		return "may be one of the plan's links, whose kernel names nobody knows beforehand"
	}
	for _, key := range []string{"hardwareAddr", "permanentAddr"} {
		mac, err := netplan.ParseMAC(scalar(selected, key))
		switch {
		case err != nil:
			continue
		case mac == f.machine.MACs.Cluster || mac == f.machine.MACs.External:
			return fmt.Sprintf("selects our link with MAC %s", mac)
		default:
			return ""
		}
	}
	return "selects NICs by more than one whole MAC, so that it may be one of the plan's links"
}

// pods refuses a foreign pod of our name. The list is v1alpha1's.
func (f *refusal) pods(d *document, pods *yaml.Node) {
	if pods == nil {
		return
	}
	for _, pod := range pods.Content {
		if podNamed(pod) {
			f.add(d, pod, "machine.pods has a pod with the name of Homeward's, %s: rename it", netplan.PodName)
		}
	}
}

// vip refuses a second owner of the API's VIP and of VIPs on our links.
func (f *refusal) vip(d *document) {
	if d.kind != "Layer2VIPConfig" && d.kind != "HCloudVIPConfig" {
		return
	}
	switch a, err := netip.ParseAddr(d.name); {
	case err == nil && a == f.renderer.plan.KubeAPI.VIP:
		f.add(d, nil, "holds the plan's kubeapi_vip already: remove it, the plan gives it")
	case isAlias(scalar(d.root, "link")):
		f.add(d, nil, "puts another VIP on our link %s: give it in the plan, or remove it", scalar(d.root, "link"))
	}
}
