package talosgen

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/config/types/network"

	"homeward/netplan"
)

// Renderer writes the documents of one plan's machines. It holds the documents
// that many machines share already encoded, so that a thousand machines cost
// little more than their own lines.
type Renderer struct {
	plan  *netplan.Plan
	shape Shape
	// alias is the document of each alias with the zero MAC in the place of the
	// machine's; dhcp, the private link beside it and vip are the same for all that
	// have them.
	alias              map[string][]byte
	dhcp, private, vip []byte
	rules              map[ruleSet][]byte
	firewall           map[firewallSet][]byte
}

// NewRenderer prepares a plan. It fails when talos.version is not a version, and with
// netplan.ErrUnallocated while addresses are not known yet.
// The plan must not change afterwards.
func NewRenderer(p *netplan.Plan) (*Renderer, error) {
	shape, err := ShapeOf(p.Talos.Version)
	if err != nil {
		return nil, err
	}
	if err := p.Complete(); err != nil {
		return nil, err
	}
	r := &Renderer{
		plan: p, shape: shape, alias: map[string][]byte{},
		rules: map[ruleSet][]byte{}, firewall: map[firewallSet][]byte{},
	}
	return r, r.share()
}

// MachinePatch is NewRenderer and Renderer.MachinePatch in one, for one machine.
func MachinePatch(p *netplan.Plan, m netplan.Machine, pod map[string]any) ([]byte, error) {
	r, err := NewRenderer(p)
	if err != nil {
		return nil, err
	}
	return r.MachinePatch(m, pod)
}

// Shape says for which Talos the documents are.
func (r *Renderer) Shape() Shape { return r.shape }

// MachinePatch gives one machine's documents as one strategic-merge patch, for a
// base that carries nothing of ours (see the package's comment). pod is the
// machine's static pod, nil where the plan needs none there; with a pod on a
// machine that marks no connections, or without one on a machine that does, it
// fails. Documents stand in a fixed order, the v1alpha1 part last: Talos loads
// them in any order, and what a machine is called and where it is attached is
// what a reader looks for first.
func (r *Renderer) MachinePatch(m netplan.Machine, pod map[string]any) ([]byte, error) {
	if err := r.checkPod(m, pod); err != nil {
		return nil, err
	}
	s := &stream{}
	s.add(hostname(m.Name))
	s.links(r, m)
	controlPlane := m.Role == netplan.RoleControlPlane
	if controlPlane && (m.External || r.plan.KubeAPI.Link == netplan.LinkCluster) {
		s.text(r.vip)
	}
	s.text(r.rules[ruleSet{r.plan.HoldsExternalVIP(m), r.plan.MarksConnections(m)}])
	s.text(r.firewall[firewallSet{dhcp: !r.plan.Static(m), kubernetes: controlPlane}])
	if r.shape == Shape114 {
		s.kubernetes114(r.plan, m, pod)
	} else {
		s.kubernetes113(r.plan, m, pod)
	}
	text, err := s.bytes()
	if err != nil {
		return nil, fmt.Errorf("machine %s: %w", m.Name, err)
	}
	return text, nil
}

// checkPod refuses a pod that the plan does not ask for, and one that Talos
// would choke on: a pod without a name stops every later change of the list.
func (r *Renderer) checkPod(m netplan.Machine, pod map[string]any) error {
	if marks := r.plan.MarksConnections(m); marks != (pod != nil) {
		return fmt.Errorf("machine %s: marks connections: %t, static pod given: %t", m.Name, marks, pod != nil)
	}
	if pod == nil {
		return nil
	}
	meta, _ := pod["metadata"].(map[string]any)
	if name, _ := meta["name"].(string); name != netplan.PodName {
		return fmt.Errorf("machine %s: the static pod is named %s, not %s", m.Name, netplan.Quote(name), netplan.PodName)
	}
	return nil
}

// links writes the aliases and everything of the two links.
func (s *stream) links(r *Renderer, m netplan.Machine) {
	s.text(r.aliasText(netplan.AliasPrivate, m.MACs.Cluster))
	if m.External {
		s.text(r.aliasText(netplan.AliasExternal, m.MACs.External))
	}
	if r.plan.Static(m) {
		s.add(privateLink(r.plan, m))
	} else {
		s.text(r.private)
	}
	if m.External {
		s.add(externalLink(r.plan, m))
	}
	if !r.plan.Static(m) {
		s.text(r.dhcp)
	} else if doc := resolver(r.plan.Cluster.DNS); doc != nil {
		s.add(doc)
	}
}

// aliasText puts a machine's MAC into the document of an alias. Parsing the
// selector anew for each machine would cost more than all else together, and a
// MAC has one length and nothing to quote.
func (r *Renderer) aliasText(alias string, mac netplan.MAC) []byte {
	return bytes.Replace(r.alias[alias], []byte(netplan.MAC{}.String()), []byte(mac.String()), 1)
}

// share encodes what many machines have in common.
func (r *Renderer) share() error {
	var errs []error
	encoded := func(write func(*stream)) []byte {
		s := &stream{}
		write(s)
		text, err := s.bytes()
		errs = append(errs, err)
		return text
	}
	r.private = encoded(func(s *stream) { s.add(privateLink(r.plan, netplan.Machine{})) })
	r.dhcp = encoded(func(s *stream) { s.add(network.NewDHCPv4ConfigV1Alpha1(netplan.AliasPrivate)) })
	for _, alias := range []string{netplan.AliasPrivate, netplan.AliasExternal} {
		r.alias[alias] = encoded(func(s *stream) {
			doc, err := linkAlias(alias, netplan.MAC{})
			if err != nil {
				s.fail(network.LinkAliasKind, err)
				return
			}
			s.add(doc)
		})
	}
	if r.plan.KubeAPI.VIP.IsValid() {
		r.vip = encoded(func(s *stream) { s.add(layer2VIP(r.plan.KubeAPI)) })
	}
	both := []bool{false, true}
	for _, a := range both {
		for _, b := range both {
			if set := (ruleSet{vip: a, mark: b}); r.plan.ReturnPath != nil {
				r.rules[set] = encoded(func(s *stream) { s.routing(routingRules(r.plan, set)) })
			}
			if set := (firewallSet{dhcp: a, kubernetes: b}); r.plan.Talos.Firewall {
				r.firewall[set] = encoded(func(s *stream) { s.blocking(firewallRules(r.plan, set)) })
			}
		}
	}
	return errors.Join(errs...)
}
