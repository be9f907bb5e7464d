package verify

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"homeward/netplan"
)

func ads(list ...string) func(*testing.T, *Snapshot) {
	return func(t *testing.T, s *Snapshot) {
		s.L2.Value = nil
		for _, spec := range list {
			s.L2.Value = append(s.L2.Value, adOf(t, "ingress", spec))
		}
	}
}

func TestMetalLBAdvertisement(t *testing.T) {
	const withInterface = "ingress: {interface: ens19}\nagent: {"
	judge(t, "metallb-advertisement", []planted{
		{name: "as planned", want: Pass, seen: "L2Advertisement ingress announces it"},
		{name: "none", want: Fail, seen: "no L2Advertisement is for pool metallb-system/ingress", remedy: "kubectl apply -f out/kubernetes/metallb.yaml", change: ads()},
		{name: "for another pool", want: Fail, change: ads(`{"ipAddressPools": ["other"]}`)},
		{name: "for all pools", want: Pass, change: ads(`{}`)},
		{name: "by label", want: Pass, change: func(t *testing.T, s *Snapshot) {
			s.Pools.Value[0].Metadata.Labels = map[string]string{"for": "us"}
			ads(`{"ipAddressPoolSelectors": [{"matchLabels": {"for": "us"}}]}`)(t, s)
		}},
		{name: "by another label", want: Fail, change: ads(`{"ipAddressPoolSelectors": [{"matchLabels": {"for": "them"}}]}`)},
		{name: "in another namespace", want: Fail, change: func(_ *testing.T, s *Snapshot) { s.L2.Value[0].Metadata.Namespace = "other" }},
		{name: "no pool", want: Fail, seen: "there is no pool to announce", change: func(_ *testing.T, s *Snapshot) { s.Pools.Value = nil }},
		{name: "confined to interfaces", want: Warn, seen: "confined to interfaces ens18, the plan to none", change: ads(`{"ipAddressPools": ["ingress"], "interfaces": ["ens18"]}`)},
		{name: "the plan's interface", want: Pass, edits: []string{"agent: {", withInterface}, change: ads(`{"ipAddressPools": ["ingress"], "interfaces": ["ens19"]}`)},
		{name: "another interface than the plan's", want: Fail, seen: "confined to interfaces ens18, the plan's to ens19", edits: []string{"agent: {", withInterface}, change: ads(`{"interfaces": ["ens18"]}`)},
		{name: "more interfaces than the plan's", want: Warn, seen: "for ens19 alone", edits: []string{"agent: {", withInterface}, change: ads(`{"interfaces": ["ens18", "ens19"]}`)},
		{name: "every interface instead of the plan's", want: Warn, seen: "is for every interface", edits: []string{"agent: {", withInterface}},
		{name: "by BGP too", want: Warn, seen: "BGPAdvertisement b announces it too", remedy: "delete bgpadvertisement b", change: func(t *testing.T, s *Snapshot) { s.BGP.Value = []Advertisement{adOf(t, "b", `{}`)} }},
		{name: "BGP for another pool", want: Pass, change: func(t *testing.T, s *Snapshot) {
			s.BGP.Value = []Advertisement{adOf(t, "b", `{"ipAddressPools": ["x"]}`)}
		}},
	})
}

func TestMetalLBAnnouncers(t *testing.T) {
	const byLabel = `{"ipAddressPools": ["ingress"], "nodeSelectors": [{"matchLabels": {"node.homeward/external": "true"}}]}`
	stranger := func(_ *testing.T, s *Snapshot) {
		n := nodeOf(s.Plan, netplan.Machine{Name: "stranger"}, "10.0.0.50")
		delete(n.Labels, netplan.LabelExternal)
		s.Nodes.Value = append(s.Nodes.Value, n)
	}
	judge(t, "metallb-announcers", []planted{
		{name: "as planned", want: Pass, seen: "2 nodes may announce"},
		{name: "by label", want: Pass, change: ads(byLabel)},
		{name: "without the label", want: Fail, seen: "edge-worker-01 may not: no L2Advertisement selects it", remedy: "kubectl label node edge-worker-01 node.homeward/external=true", change: func(t *testing.T, s *Snapshot) {
			ads(byLabel)(t, s)
			delete(s.Nodes.Value[w1].Labels, netplan.LabelExternal)
		}},
		{name: "by expression", want: Fail, seen: "edge-worker-02 may not", change: ads(`{"nodeSelectors": [{"matchExpressions": [{"key": "node.homeward/external", "operator": "DoesNotExist"}]}]}`)},
		{name: "by a selector that is none", want: Fail, change: ads(`{"nodeSelectors": [{"matchExpressions": [{"key": "x", "operator": "Near"}]}]}`)},
		{name: "by two advertisements", want: Pass, change: ads(`{"nodeSelectors": [{"matchLabels": {"none": ""}}]}`, byLabel)},
		{name: "a worker is excluded", want: Fail, seen: "edge-worker-01 may not: label node.kubernetes.io/exclude", remedy: "exclude-from-external-load-balancers-", change: func(_ *testing.T, s *Snapshot) {
			s.Nodes.Value[w1].Labels[corev1.LabelNodeExcludeBalancers] = "false" // its value says nothing
		}},
		{name: "a stranger", want: Fail, seen: "stranger may, and is not in the plan", remedy: "kubectl label node stranger node.kubernetes.io/exclude-from-external-load-balancers=", change: stranger},
		{name: "a stranger without the label", want: Pass, change: func(t *testing.T, s *Snapshot) {
			ads(byLabel)(t, s)
			stranger(t, s)
		}},
		{name: "a machine without the NIC", want: Fail, seen: "edge-batch-01 may, and has no external NIC", edits: shapes["batch without NIC"]},
	})
	judge(t, "control-planes-excluded", []planted{
		{name: "as planned", want: Pass, seen: "as planned on 2 control planes"},
		{name: "without the label", want: Fail, seen: "edge-controlplane-02 may announce", remedy: "kubectl label node edge-controlplane-02 node.kubernetes.io/exclude-from-external-load-balancers=",
			change: func(_ *testing.T, s *Snapshot) { delete(s.Nodes.Value[cp2].Labels, corev1.LabelNodeExcludeBalancers) }},
		{name: "without the label and not selected", want: Pass, change: func(t *testing.T, s *Snapshot) {
			delete(s.Nodes.Value[cp2].Labels, corev1.LabelNodeExcludeBalancers)
			ads(`{"nodeSelectors": [{"matchLabels": {"none": ""}}]}`)(t, s)
		}},
		{name: "speakers that ignore it", want: Fail, seen: "the speakers have --ignore-exclude-lb", change: func(_ *testing.T, s *Snapshot) {
			s.MetalLB.Value[0].Spec.Containers[0].Args = []string{"--ignore-exclude-lb"}
		}},
		{name: "speakers that are told not to", want: Pass, change: func(_ *testing.T, s *Snapshot) {
			s.MetalLB.Value[0].Spec.Containers[0].Args = []string{"--ignore-exclude-lb=false"}
		}},
		{name: "excluded where nobody else announces", want: Fail, seen: "the plan has no workers that could", edits: shapes["no workers"], change: func(_ *testing.T, s *Snapshot) {
			s.Nodes.Value[cp1].Labels[corev1.LabelNodeExcludeBalancers] = ""
		}},
		{name: "none is a node", want: Unknown, seen: "no control plane of the plan is a node", change: func(_ *testing.T, s *Snapshot) { s.Nodes.Value = s.Nodes.Value[w1:] }},
	})
}
