package talosgen

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"homeward/netplan"
)

// recognise makes up the record of a base that has none: empty for a pristine
// base, and for one that carries our documents (a patch of ours went into it)
// what can be told by name and shape.
func (r *Renderer) recognise(docs, ours []*document, m netplan.Machine) *record {
	rec := newRecord()
	if !carriesOurs(docs, m) {
		return rec
	}
	old := survey(docs)
	for _, d := range docs {
		if d.root != nil && old.owns(d) {
			rec.Documents = append(rec.Documents, d.id())
		}
	}
	for _, d := range ours {
		if slices.Contains(sharedKinds, d.kind) {
			presentItems(rec, docs, d.kind, d.root, nil)
		}
	}
	rec.drop(docs, place(kindV1Alpha1, "machine", "pods"), netplan.PodName)
	for _, vip := range old.vips {
		for _, at := range []string{
			place(kindV1Alpha1, "machine", "certSANs"),
			place(kindV1Alpha1, "cluster", "apiServer", "certSANs"),
			place(kindKubeAPIServer, "certExtraSANs"),
		} {
			rec.drop(docs, at, vip)
		}
		for _, at := range []string{
			place(kindV1Alpha1, "machine", "kubelet", "nodeIP", "validSubnets"),
			place(kindV1Alpha1, "cluster", "etcd", "advertisedSubnets"),
			place(kindKubeNode, "nodeIP", "validSubnets"),
		} {
			rec.drop(docs, at, "!"+vip+"/32")
		}
	}
	if old.firewall {
		rec.Scalars[place("NetworkDefaultActionConfig", "ingress")] = nil
	}
	for _, at := range []string{place(kindV1Alpha1, "machine", "nodeLabels", netplan.LabelExternal), place(kindKubeNode, "labels", netplan.LabelExternal)} {
		if _, label := find(docs, at); label != nil {
			rec.Scalars[at] = nil
		}
	}
	return rec
}

// drop notes an item of a list as ours if it is there and not noted yet.
func (r *record) drop(docs []*document, at, id string) {
	_, list := find(docs, at)
	if list == nil || list.Kind != yaml.SequenceNode || itemIndex(list, id) < 0 || slices.Contains(r.Items[at], id) {
		return
	}
	r.Items[at] = append(r.Items[at], id)
}

// presentItems notes the list items of our patch that a base already has.
func presentItems(rec *record, docs []*document, kind string, patch *yaml.Node, path []string) {
	switch patch.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(patch.Content); i += 2 {
			presentItems(rec, docs, kind, patch.Content[i+1], append(path[:len(path):len(path)], patch.Content[i].Value))
		}
	case yaml.SequenceNode:
		for _, item := range patch.Content {
			rec.drop(docs, place(kind, path...), identity(item))
		}
	}
}

// carriesOurs says that a base went through our hands: one of our aliases with
// this machine's own MAC, or our pod. A name alone proves nothing.
func carriesOurs(docs []*document, m netplan.Machine) bool {
	for _, d := range docs {
		match := scalar(d.root, "selector", "match")
		switch {
		case d.kind == "LinkAliasConfig" && d.name == netplan.AliasPrivate && match == selector(m.MACs.Cluster):
			return true
		case d.kind == "LinkAliasConfig" && d.name == netplan.AliasExternal && match == selector(m.MACs.External):
			return true
		case d.kind == kindKubeStaticPod && ourPod(lookup(d.root, "pod")):
			return true
		}
		if pods := lookup(d.root, "machine", "pods"); pods != nil && slices.ContainsFunc(pods.Content, ourPod) {
			return true
		}
	}
	return false
}

// ourPod knows the static pod by its name and by the label that every pod of ours
// carries.
func ourPod(pod *yaml.Node) bool {
	return podNamed(pod) && scalar(pod, "metadata", "labels", "app.kubernetes.io/managed-by") == "homeward"
}

// traces is what earlier documents of ours say about themselves.
type traces struct {
	// tables our external link's routes are in; pairs are the priorities of rules
	// into one of them and of the fail-closed ones behind them.
	tables, pairs map[string]bool
	// vips are the addresses of our Layer2VIPConfigs.
	vips     []string
	firewall bool
}

func survey(docs []*document) traces {
	t := traces{tables: map[string]bool{}, pairs: map[string]bool{}}
	for _, d := range docs {
		switch {
		case d.kind == "LinkConfig" && d.name == netplan.AliasExternal:
			if routes := lookup(d.root, "routes"); routes != nil {
				for _, route := range routes.Content {
					t.tables[scalar(route, "table")] = true
				}
			}
		case d.kind == "Layer2VIPConfig" && isAlias(scalar(d.root, "link")):
			t.vips = append(t.vips, d.name)
		case d.kind == "NetworkRuleConfig" && strings.HasPrefix(d.name, firewallPrefix):
			t.firewall = true
		}
	}
	delete(t.tables, "")
	for _, rule := range docs {
		for _, closed := range docs {
			if t.tables[scalar(rule.root, "table")] && closesBehind(rule, closed) {
				t.pairs[rule.name], t.pairs[closed.name] = true, true
			}
		}
	}
	return t
}

// closesBehind says that closed is the fail-closed rule of rule: ten behind it,
// unreachable, and with the same selector of a mark or one source address.
func closesBehind(rule, closed *document) bool {
	if rule.kind != "RoutingRuleConfig" || closed.kind != rule.kind || scalar(closed.root, "action") != "unreachable" {
		return false
	}
	a, errA := strconv.ParseUint(rule.name, 10, 32)
	b, errB := strconv.ParseUint(closed.name, 10, 32)
	if errA != nil || errB != nil || b != a+10 {
		return false
	}
	for _, key := range []string{"src", "dst", "fwMark", "fwMask", "iifName", "oifName"} {
		if scalar(rule.root, key) != scalar(closed.root, key) {
			return false
		}
	}
	return scalar(rule.root, "fwMark") != "" || strings.HasSuffix(scalar(rule.root, "src"), "/32")
}

// owns says that a document is ours by name and shape.
func (t traces) owns(d *document) bool {
	switch d.kind {
	case "LinkAliasConfig":
		return isAlias(d.name) && strings.HasPrefix(scalar(d.root, "selector", "match"), "mac(link.permanent_addr) == ")
	case "LinkConfig", "DHCPv4Config":
		return isAlias(d.name)
	case "Layer2VIPConfig":
		return isAlias(scalar(d.root, "link"))
	case "RoutingRuleConfig":
		return t.pairs[d.name]
	case "NetworkRuleConfig":
		return strings.HasPrefix(d.name, firewallPrefix)
	case "NetworkDefaultActionConfig":
		// Left alone without our openings, it would lock everyone out.
		return t.firewall
	case kindKubeStaticPod:
		return d.name == netplan.PodName && ourPod(lookup(d.root, "pod"))
	}
	return false
}

func isAlias(name string) bool { return name == netplan.AliasPrivate || name == netplan.AliasExternal }
