package netplan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Change is what differs between a plan that is in force and a new one, and
// what doing it means.
type Change struct {
	// Machine is a hostname, empty for a change of the whole cluster.
	Machine string `json:"machine,omitempty"`
	// Field is the field's path in the plan's JSON ("external.ingress_pool").
	Field string `json:"field"`
	// Old and New are values as text, empty where there is none.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// Effect says what will happen, and in which order to do it.
	Effect string `json:"effect"`
}

// Compare lists what changes from one plan to another: first the cluster's, then
// each machine's in the order of machines, those that leave last. Empty when
// nothing does.
func Compare(old, new *Plan) []Change {
	c := &comparison{cloud: new.OpenStack != nil}
	if old.Provider != new.Provider {
		c.note("provider", old.Provider, new.Provider, effectRecreate)
		return c.changes
	}
	c.cluster(old, new)
	c.openStack(old, new)
	c.externalLink(old, new)
	c.returnPath(old.ReturnPath, new.ReturnPath)
	c.machines(old, new)
	return c.changes
}

type comparison struct {
	machine string
	// cloud says that both plans are for OpenStack.
	cloud   bool
	changes []Change
}

// note adds a change when the two values differ as text.
func (c *comparison) note(field string, old, new any, effect string) {
	o, n := text(old), text(new)
	if o == n {
		return
	}
	if on := cloudEffects[field]; c.cloud && on != "" {
		effect = on
	}
	c.changes = append(c.changes, Change{Machine: c.machine, Field: field, Old: o, New: n, Effect: effect})
}

// text shows a value; zero is empty.
func text(v any) string {
	if v == nil || reflect.ValueOf(v).IsZero() {
		return ""
	}
	return fmt.Sprint(v)
}

// yes shows a choice, also the one that is the zero value.
func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// lines shows allowlists in one line.
func lines(list []Allow) string {
	var out []string
	for _, a := range list {
		hosts := make([]string, len(a.Hosts))
		for i, h := range a.Hosts {
			hosts[i] = h.String()
		}
		out = append(out, fmt.Sprintf("%s (%d): %s", a.Name, a.Port, strings.Join(hosts, ", ")))
	}
	return strings.Join(out, "; ")
}

// Effects that several fields share.
const (
	effectRecreate = "the cluster must be made anew: this cannot change on a living one"
	effectMachines = "every machine gets a new config; no reboot"
	effectMTU      = "the NIC in Proxmox has it too (proxmox/nics.sh); " + effectMachines
	effectNIC      = "the VM's NIC must be changed in Proxmox, and its machine config with it: the machine is off that network in between"
)

func (c *comparison) cluster(old, new *Plan) {
	c.note("name", old.Name, new.Name, effectRecreate)
	c.note("talos.version", old.Talos.Version, new.Talos.Version, "upgrade Talos first; from 1.13 to 1.14 the documents have another shape: make the base configs again with the new talosctl and the same secrets, then generate and apply")
	c.note("talos.firewall", yes(old.Talos.Firewall), yes(new.Talos.Firewall), "on, it blocks everything from outside but what security allows, 80 and 443: Services on other ports need an entry there; "+effectMachines)
	c.note("kubernetes.version", old.Kubernetes.Version, new.Kubernetes.Version, "upgrade Kubernetes; the nft pod's image follows")
	c.note("kubernetes.cni", old.Kubernetes.CNI, new.Kubernetes.CNI, "nothing of ours depends on it but the checks of marks and tables")
	c.note("kubernetes.pod_cidr", old.Kubernetes.PodCIDR, new.Kubernetes.PodCIDR, effectRecreate)
	c.note("kubernetes.service_cidr", old.Kubernetes.ServiceCIDR, new.Kubernetes.ServiceCIDR, effectRecreate)
	c.note("cluster.segment", old.Cluster.Segment, new.Cluster.Segment, effectNIC)
	c.note("cluster.cidr", old.Cluster.CIDR, new.Cluster.CIDR, "node addresses and etcd's network change: move one machine at a time")
	c.note("cluster.gateway", old.Cluster.Gateway, new.Cluster.Gateway, "the default route of machines with a static address changes")
	c.note("cluster.mtu", old.Cluster.MTU, new.Cluster.MTU, effectMTU)
	c.note("cluster.dns", old.Cluster.DNS, new.Cluster.DNS, effectMachines)
	c.note("kubeapi.vip", old.KubeAPI.VIP, new.KubeAPI.VIP, "put the new address into kubeapi_sans and apply to the control planes before; then in the order of the generated README")
	c.note("kubeapi.link", old.KubeAPI.Link, new.KubeAPI.Link, "the VIP is held on another NIC: control planes one right after the other")
	c.note("kubeapi.endpoint", old.KubeAPI.Endpoint, new.KubeAPI.Endpoint, "make the base configs again with it and the same secrets; then every holder of a kubeconfig gets a new one")
	c.note("kubeapi.sans", old.KubeAPI.SANs, new.KubeAPI.SANs, "control planes get new certificates")
	c.note("agent.image", old.Agent.Image, new.Agent.Image, "the static pod is replaced on every machine with the external NIC; no reply is lost meanwhile")
	c.note("agent.metrics", old.Agent.Metrics, new.Agent.Metrics, "the static pod is replaced on every machine with the external NIC")
	c.note("security", lines(old.Security), lines(new.Security), "only with talos.firewall: "+effectMachines)
	c.note("ingress.address", old.Ingress.Address, new.Ingress.Address, "clients of the old address lose it: move DNS first")
	c.note("ingress.external_traffic_policy", old.Ingress.ExternalTrafficPolicy, new.Ingress.ExternalTrafficPolicy, "MetalLB may move the address to another node")
}

func (c *comparison) externalLink(old, new *Plan) {
	o, n := old.External, new.External
	switch {
	case o == nil && n == nil:
		return
	case o == nil:
		c.note("external", "", n.Segment, "every machine gets a second NIC: add it in Proxmox before its new config")
		return
	case n == nil:
		c.note("external", o.Segment, "", "the pool and an external VIP go: MetalLB's objects first, then the machines, then the NICs")
		return
	}
	c.note("external.segment", o.Segment, n.Segment, effectNIC)
	c.note("external.cidr", o.CIDR, n.CIDR, "routes of every machine with the external NIC change: replies to the old network stop going home")
	c.note("external.gateway", o.Gateway, n.Gateway, "routes of every machine with the external NIC change")
	c.note("external.mtu", o.MTU, n.MTU, effectMTU)
	c.note("external.anchor_cidr", o.AnchorCIDR, n.AnchorCIDR, "anchors are chosen anew")
	c.pool(o.IngressPool, n.IngressPool)
}

// pool says in which order the nodes and MetalLB must learn of a new pool.
func (c *comparison) pool(old, new AddressSet) {
	grows, shrinks := !covers(old, new), !covers(new, old)
	effect := "the same addresses, written differently"
	switch {
	case grows && shrinks:
		effect = "in two steps: first a plan that only grows (nodes first, then kubernetes/metallb.yaml), then one that only shrinks (the reverse)"
	case grows:
		effect = "nodes first, then kubernetes/metallb.yaml"
	case shrinks:
		effect = "kubernetes/metallb.yaml first, once no service holds an address that goes; then the nodes"
	}
	c.note("external.ingress_pool", old.brief(), new.brief(), effect)
}

// covers says whether every address of b is in a.
func covers(a, b AddressSet) bool {
	merged := a.Merged()
	for _, x := range b.Merged() {
		if !slices.ContainsFunc(merged, func(m Range) bool { return m.Contains(x.First) && m.Contains(x.Last) }) {
			return false
		}
	}
	return true
}

func (c *comparison) returnPath(old, new *ReturnPath) {
	if old == nil || new == nil {
		return // the external link came or went with it
	}
	const both = "the static pod and the routing rules change on every machine with the external NIC: open connections heal with their next packet, replies in between may be lost"
	c.note("return_path.mark", old.Mark, new.Mark, both)
	c.note("return_path.mask", old.Mask, new.Mask, both)
	c.note("return_path.table", old.Table, new.Table, both)
	c.note("return_path.priorities", old.Priorities, new.Priorities, both)
	c.note("return_path.pod", old.Pod, new.Pod, "one pod takes the table over from the other; no reply is lost")
}

func (c *comparison) machines(old, new *Plan) {
	before := make(map[string]Machine, len(old.Machines))
	for _, m := range old.Machines {
		before[m.Name] = m
	}
	for _, m := range new.Machines {
		c.machine = m.Name
		o, known := before[m.Name]
		if !known {
			effect := "new: make the VM with its NICs, then apply its config"
			if c.cloud {
				effect = "new: reserve makes its port; then make its server on that, with its config"
			}
			c.note("machine", "", m.Role, effect)
			continue
		}
		delete(before, m.Name)
		c.oneMachine(o, m, new)
	}
	for _, m := range old.Machines {
		if _, gone := before[m.Name]; gone {
			c.machine = m.Name
			c.note("machine", m.Role, "", "gone: drain and reset it first; its file is removed")
		}
	}
	c.machine = ""
}

func (c *comparison) oneMachine(o, m Machine, new *Plan) {
	c.note("external", yes(o.External), yes(m.External), "add or remove the second NIC in Proxmox, then apply the new config")
	c.note("announces", yes(o.Announces), yes(m.Announces), "MetalLB's speaker there starts or stops announcing")
	c.note("macs.cluster", o.MACs.Cluster, m.MACs.Cluster, effectNIC)
	if o.External == m.External {
		c.note("macs.external", o.MACs.External, m.MACs.External, effectNIC)
		keep := ""
		if e := new.External; e != nil && e.AnchorCIDR.Contains(o.Anchor) {
			keep = "; machines: {" + m.Name + ": {anchor: " + text(o.Anchor) + "}} keeps it"
		}
		c.note("anchor", o.Anchor, m.Anchor, "its anchor moves: replies from there pause for about a second when the config is applied"+keep)
		c.note("external_address", o.ExternalAddress, m.ExternalAddress, "its address on the external link changes")
	}
	c.note("address", o.Address, m.Address, "the node's private address changes: one machine at a time")
	c.note("vmid", o.VMID, m.VMID, "only the provisioning files change")
	c.note("node", o.Node, m.Node, "only the provisioning files change")
}
