package verify

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"homeward/cmd/homeward/internal/report/kube"
	"homeward/netplan"
)

func announceChecks() []check {
	return []check{
		{"metallb-advertisement", "the pool is announced as the plan says",
			"a pool without an L2Advertisement hands out addresses that nobody answers for; one confined to other interfaces is not heard on the external link",
			poolAnnounced},
		{"metallb-announcers", "the plan's machines may announce, no others",
			"a node without the external NIC that wins an address takes it off the network; one that is left out cannot take an address over",
			announcersArePlanned},
		{"control-planes-excluded", "control planes announce only where planned",
			"the return path of the pool is not meant for control planes when there are workers; where there are none, nobody else announces",
			controlPlanesExcluded},
	}
}

// announcing are the L2Advertisements of the plan's pools; ok is false where that could
// not be read or there is nothing to announce.
func (s *Snapshot) announcing(n *notes) (ads []Advertisement, ours []extent, ok bool) {
	if !s.hasPool(n) {
		return nil, nil, false
	}
	_, ok1 := need(n, s.Pools)
	list, ok2 := need(n, s.L2)
	if !ok1 || !ok2 {
		return nil, nil, false
	}
	all, _ := s.extents()
	ours, _ = s.ours(all)
	for _, a := range list {
		if slices.ContainsFunc(ours, func(e extent) bool { return a.selects(e.Pool) }) {
			ads = append(ads, a)
		}
	}
	slices.SortFunc(ads, func(a, b Advertisement) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	return ads, ours, true
}

func poolAnnounced(s *Snapshot, n *notes) {
	ads, ours, ok := s.announcing(n)
	if !ok {
		return
	}
	s.regenerate(n)
	if len(ours) == 0 {
		n.fail("there is no pool to announce")
		return
	}
	for _, e := range ours {
		if !slices.ContainsFunc(ads, func(a Advertisement) bool { return a.selects(e.Pool) }) {
			n.fail("no L2Advertisement is for pool %s", e.name())
		}
	}
	for _, a := range ads {
		s.advertisedInterfaces(n, a)
		n.saw("L2Advertisement %s announces it", a.Metadata.Name)
	}
	bgp, ok := need(n, s.BGP)
	if !ok {
		return
	}
	for _, a := range bgp {
		if slices.ContainsFunc(ours, func(e extent) bool { return a.selects(e.Pool) }) {
			n.warn("BGPAdvertisement %s announces it too: requests that a router sends to a node's private address get no mark", a.Metadata.Name)
			n.remedy("confine the BGPAdvertisement to other pools, or delete it", "kubectl -n "+s.Namespace+" delete bgpadvertisement "+a.Metadata.Name)
		}
	}
}

// advertisedInterfaces compares an advertisement's interfaces with the plan's.
func (s *Snapshot) advertisedInterfaces(n *notes, a Advertisement) {
	want, got := s.Plan.Ingress.Interface, a.Spec.Interfaces
	switch {
	case want == "" && len(got) > 0:
		n.warn("L2Advertisement %s is confined to interfaces %s, the plan to none", a.Metadata.Name, plain(named(got)))
	case want != "" && len(got) == 0:
		n.warn("L2Advertisement %s is for every interface, the plan's for %s", a.Metadata.Name, want)
	case want != "" && !slices.Contains(got, want):
		n.fail("L2Advertisement %s is confined to interfaces %s, the plan's to %s", a.Metadata.Name, plain(named(got)), want)
	case want != "" && len(got) > 1:
		n.warn("L2Advertisement %s is for interfaces %s, the plan's for %s alone", a.Metadata.Name, plain(named(got)), want)
	}
}

// barred says why a node may not announce; empty where it may.
func (s *Snapshot) barred(node corev1.Node, ads []Advertisement) string {
	_, excluded := node.Labels[kube.ExcludedLabel]
	switch {
	case excluded && !s.ignoresExclusion():
		return "label " + kube.ExcludedLabel
	case !slices.ContainsFunc(ads, func(a Advertisement) bool { return a.from(node.Labels) }):
		return "no L2Advertisement selects it"
	}
	return ""
}

// ignoresExclusion says that the speakers are told to announce from excluded nodes.
func (s *Snapshot) ignoresExclusion() bool {
	return slices.ContainsFunc(s.component(kube.Speaker), func(p corev1.Pod) bool {
		_, told := flagOf(p.Spec, "ignore-exclude-lb")
		return told
	})
}

func announcersArePlanned(s *Snapshot, n *notes) {
	ads, _, ok := s.announcing(n)
	if !ok {
		return
	}
	nodes, ok := need(n, s.Nodes)
	if !ok {
		return
	}
	planned := map[string]netplan.Machine{}
	for _, m := range s.Plan.Machines {
		planned[m.Name] = m
	}
	may := 0
	for _, node := range nodes {
		m, known := planned[node.Name]
		why := s.barred(node, ads)
		if why == "" {
			may++
		}
		switch {
		case m.Announces && why != "":
			n.fail("%s may not: %s", node.Name, why)
			if strings.HasPrefix(why, "label") {
				n.remedy("take the label off, in the machine's config too", "kubectl label node "+node.Name+" "+kube.ExcludedLabel+"-")
			} else {
				n.remedy("the plan selects nodes by label "+netplan.LabelExternal+"=true, which their machine config sets", "kubectl label node "+node.Name+" "+netplan.LabelExternal+"=true")
				s.regenerate(n)
			}
		case m.Announces || why != "":
		case !known:
			n.fail("%s may, and is not in the plan", node.Name)
			n.remedy("take the node into the plan, or keep MetalLB from announcing there", "kubectl label node "+node.Name+" "+kube.ExcludedLabel+"=")
		case m.Role == netplan.RoleControlPlane:
			// controlPlanesExcluded says so.
		default:
			n.fail("%s may, and has no external NIC", node.Name)
			s.regenerate(n)
		}
	}
	n.saw("%s may announce", plural(may, "node"))
}

func controlPlanesExcluded(s *Snapshot, n *notes) {
	ads, _, ok := s.announcing(n)
	if !ok {
		return
	}
	if _, ok := need(n, s.Nodes); !ok {
		return
	}
	_, speakers := need(n, s.MetalLB) // they may be told to ignore the label
	nodes := s.nodes()
	seen := 0
	for _, m := range s.Plan.Machines {
		node := nodes[m.Name]
		if m.Role != netplan.RoleControlPlane || node == nil {
			continue
		}
		seen++
		why := s.barred(*node, ads)
		switch {
		case !m.Announces && why == "" && s.ignoresExclusion():
			n.fail("%s may announce: the speakers have --ignore-exclude-lb", m.Name)
			n.remedy("run the speakers without --ignore-exclude-lb", "")
		case !m.Announces && why == "":
			n.fail("%s may announce, and the plan has workers for it", m.Name)
			n.remedy("label it, in the machine's config too", "kubectl label node "+m.Name+" "+kube.ExcludedLabel+"=")
		case m.Announces && why != "":
			n.fail("%s may not announce (%s), and the plan has no workers that could", m.Name, why)
			n.remedy("take the label off, in the machine's config too", "kubectl label node "+m.Name+" "+kube.ExcludedLabel+"-")
		}
	}
	switch {
	case seen == 0:
		n.unknown("no control plane of the plan is a node")
		n.remedy("see check nodes-planned", "")
	case speakers:
		n.saw("as planned on %s", plural(seen, "control plane"))
	}
}

// flagOf finds a flag of a program in a pod's containers, with one dash or two; its
// value is empty where it has none.
func flagOf(spec corev1.PodSpec, name string) (value string, found bool) {
	for _, c := range spec.Containers {
		for _, arg := range slices.Concat(c.Command, c.Args) {
			flag, value, _ := strings.Cut(arg, "=")
			if flag == "--"+name || flag == "-"+name {
				return value, value != "false"
			}
		}
	}
	return "", false
}
