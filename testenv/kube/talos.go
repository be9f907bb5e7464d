//go:build linux

package kube

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	"sigs.k8s.io/yaml"

	"homeward/netplan"
	"homeward/testenv/netlab"
)

// document is what the lab reads of one document of a machine's patch. Each kind
// uses some of the fields.
type document struct {
	Kind, Name string
	Link       string
	Addresses  []struct{ Address netip.Prefix }
	Routes     []struct {
		Destination netip.Prefix
		Gateway     netip.Addr
		Table       string
	}
	Table, Action  string
	Src            netip.Prefix
	FwMark, FwMask uint32
	Machine        *struct {
		Pods       []map[string]any
		NodeLabels map[string]string
	}
	Cluster *struct {
		APIServer struct{ CertSANs []string }
	}
}

// installed is what stands in for Talos on one machine: it does what the patch
// of that name says to the host.
type installed struct {
	host *netlab.Host
	name string
	// external is the kernel's name of the external NIC.
	external string
	product  *Product
}

// documents reads the patch that the product generated for the machine.
func (t installed) documents(kind Kind) ([]document, error) {
	text, err := t.product.File(kind, "talos", t.name+".yaml")
	if err != nil {
		return nil, err
	}
	var list []document
	for part := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var d document
		if err := yaml.Unmarshal(part, &d); err != nil {
			return nil, fmt.Errorf("reading the patch of %s: %w", t.name, err)
		}
		list = append(list, d)
	}
	return list, nil
}

// externalAlias is what the product's documents call the external link.
const externalAlias = "external"

// configure does what Talos does with the patch: addresses and routes of the
// external link, and the routing rules. netlab has the private link's already.
func (t installed) configure() error {
	list, err := t.documents(AgentPod)
	if err != nil {
		return err
	}
	rules := 0
	for _, d := range list {
		switch {
		case d.Kind == "LinkConfig" && d.Name == externalAlias:
			err = t.configureExternal(d)
		case d.Kind == "RoutingRuleConfig":
			rules++
			err = t.configureRule(d)
		}
		if err != nil {
			return fmt.Errorf("configuring %s from its patch: %s %s: %w", t.name, d.Kind, d.Name, err)
		}
	}
	if rules == 0 {
		return fmt.Errorf("configuring %s from its patch: no routing rule in it", t.name)
	}
	return t.host.SetAlias(t.external, externalAlias)
}

func (t installed) configureExternal(d document) error {
	for _, a := range d.Addresses {
		if err := t.host.AddAddress(t.external, a.Address); err != nil {
			return err
		}
	}
	for _, r := range d.Routes {
		table, err := strconv.Atoi(r.Table)
		if err != nil {
			return fmt.Errorf("table %q: %w", r.Table, err)
		}
		err = t.host.AddRoute(netlab.Route{
			Destination: r.Destination, Via: r.Gateway, Link: t.external, Table: table,
			Metric: netplan.TalosRouteMetric, Protocol: unix.RTPROT_STATIC,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (t installed) configureRule(d document) error {
	rule, err := d.rule()
	if err != nil {
		return err
	}
	return t.host.AddRule(rule)
}

// rule is the routing rule that a RoutingRuleConfig asks for.
func (d document) rule() (netlab.Rule, error) {
	priority, err := strconv.Atoi(d.Name)
	if err != nil {
		return netlab.Rule{}, err
	}
	rule := netlab.Rule{
		Priority: priority, Source: d.Src, Mark: d.FwMark, Mask: d.FwMask, Unreachable: d.Action == "unreachable",
	}
	if rule.Unreachable {
		return rule, nil
	}
	if rule.Table, err = strconv.Atoi(d.Table); err != nil {
		return netlab.Rule{}, fmt.Errorf("table %q: %w", d.Table, err)
	}
	return rule, nil
}

// returnPathPod gives the static pod out of the machine's patch, as Talos hands
// it to the kubelet.
func (m *Machine) returnPathPod(kind Kind) ([]byte, error) {
	list, err := m.talos().documents(kind)
	if err != nil {
		return nil, err
	}
	for _, d := range list {
		if d.Machine != nil && len(d.Machine.Pods) == 1 {
			return yaml.Marshal(d.Machine.Pods[0])
		}
	}
	return nil, errors.New("the patch of " + m.Name + " has no static pod, or several")
}

// nodeLabels gives the patch's labels for the kubelet's command line, sorted.
func (m *Machine) nodeLabels() (string, error) {
	list, err := m.talos().documents(AgentPod)
	if err != nil {
		return "", err
	}
	var labels []string
	for _, d := range list {
		if d.Machine == nil {
			continue
		}
		for key, value := range d.Machine.NodeLabels {
			labels = append(labels, key+"="+value)
		}
	}
	slices.Sort(labels)
	return strings.Join(labels, ","), nil
}
