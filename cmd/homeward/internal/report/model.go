package report

import (
	"maps"
	"net/netip"
	"net/url"
	"slices"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// model is what follows from the facts before anything is said about it.
type model struct {
	Facts
	own inventory.Owned
	// at is the host of each machine that is known; hosts are all hosts that are known,
	// also those without a machine.
	at    map[string]string
	hosts []string
	// moved are machines whose guest is not on the plan's host.
	moved         []string
	etcd          Etcd
	announcing    []string
	announcements []Announcement
}

func newModel(f Facts) *model {
	m := &model{Facts: f, at: map[string]string{}}
	hosts := map[string]bool{}
	for _, x := range f.Plan.Machines {
		if x.Node != "" {
			m.at[x.Name] = x.Node
			hosts[x.Node] = true
		}
		if x.Role == netplan.RoleControlPlane {
			m.etcd.Members++
		}
	}
	m.etcd.There = m.etcd.Members
	if f.Snapshot != nil {
		m.own = inventory.OwnGuests(f.Plan, f.Snapshot)
		for _, g := range m.own.Guests {
			if planned := m.at[g.Machine]; planned != "" && planned != g.Node {
				m.moved = append(m.moved, g.Machine+" (planned on "+planned+", runs on "+g.Node+")")
			}
			m.at[g.Machine] = g.Node
		}
		for _, n := range f.Snapshot.Nodes {
			hosts[n.Name] = true
		}
	}
	for _, h := range m.at {
		hosts[h] = true
	}
	m.hosts = slices.Sorted(maps.Keys(hosts))
	m.announcing = m.eligible()
	m.announce()
	return m
}

// eligible are the machines that may announce the pool, in the plan's order: as the
// plan has it, and where the cluster was read only with a speaker on a ready node.
func (m *model) eligible() []string {
	var out []string
	for _, x := range m.Plan.Machines {
		if x.Announces && m.mayAnnounce(x.Name) {
			out = append(out, x.Name)
		}
	}
	return out
}

func (m *model) mayAnnounce(name string) bool {
	if m.Cluster == nil {
		return true
	}
	if m.Cluster.Speakers != nil && !slices.Contains(m.Cluster.Speakers, name) {
		return false
	}
	at := slices.IndexFunc(m.Cluster.Nodes, func(n Node) bool { return n.Name == name })
	return len(m.Cluster.Nodes) == 0 || at >= 0 && m.Cluster.Nodes[at].Ready && !m.Cluster.Nodes[at].Excluded
}

// hasPool says that the plan has addresses for services.
func (m *model) hasPool() bool { return m.Plan.External != nil && len(m.Plan.External.IngressPool) > 0 }

// announce finds who announces which address: those that services have, or where no
// service is known the first of the pool.
func (m *model) announce() {
	if !m.hasPool() {
		return
	}
	for _, a := range m.used() {
		m.announcements = append(m.announcements, m.announcement(a, true))
	}
	if len(m.announcements) == 0 {
		// Without a service all are alike, and a few show who announces how much.
		for _, a := range m.Plan.External.IngressAddresses[:min(len(m.Plan.External.IngressAddresses), MaxAnnouncements)] {
			m.announcements = append(m.announcements, m.announcement(a, false))
		}
		if len(m.announcements) == 0 { // too large to be listed
			m.announcements = []Announcement{m.announcement(m.Plan.External.IngressPool[0].First, false)}
		}
	}
}

// used are the addresses of the pool that services have, ascending.
func (m *model) used() []netip.Addr {
	if m.Cluster == nil {
		return nil
	}
	var out []netip.Addr
	for _, s := range m.Cluster.Services {
		for _, a := range s.Addresses {
			if m.Plan.External.IngressPool.Contains(a) {
				out = append(out, a)
			}
		}
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out)
}

func (m *model) announcement(address netip.Addr, served bool) Announcement {
	a := Announcement{Address: address.String(), Services: []string{}, Now: []string{}, Endpoints: []NodeCount{}, served: served,
		local: m.Plan.Ingress.ExternalTrafficPolicy == "Local"}
	nodes := m.announcing
	if served {
		counts := map[string]int{}
		a.local = false
		for _, s := range m.Cluster.Services {
			if !slices.Contains(s.Addresses, address) {
				continue
			}
			a.Services = append(a.Services, s.Namespace+"/"+s.Name)
			a.Now = append(a.Now, s.Announcers...)
			a.local = a.local || s.Local
			for node, n := range s.Endpoints {
				counts[node] += n
			}
		}
		for _, node := range slices.Sorted(maps.Keys(counts)) {
			a.Endpoints = append(a.Endpoints, NodeCount{node, counts[node]})
		}
		if a.local {
			nodes = slices.DeleteFunc(slices.Clone(nodes), func(n string) bool { return counts[n] == 0 })
		}
		slices.Sort(a.Services)
		slices.Sort(a.Now)
		a.Now = slices.Compact(a.Now)
	}
	a.Policy = map[bool]string{true: "Local", false: "Cluster"}[a.local]
	a.order, a.Eligible = announcers(nodes, address), len(nodes)
	a.Order = a.order[:min(len(a.order), shownOrder)]
	return a
}

// first is who announces the address: by what MetalLB says, else by its election.
func (a Announcement) first() string {
	switch {
	case len(a.Now) == 1:
		return a.Now[0]
	case len(a.order) > 0:
		return a.order[0]
	}
	return ""
}

// balancer is the host of the API's endpoint where it is neither the VIP nor a
// machine's address; machine is the machine whose address it is.
func (m *model) balancer() (host, machine string) {
	if m.Plan.KubeAPI.VIP.IsValid() {
		return "", ""
	}
	u, err := url.Parse(m.Plan.KubeAPI.Endpoint)
	if err != nil {
		return m.Plan.KubeAPI.Endpoint, ""
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		for _, x := range m.Plan.Machines {
			if x.Address == a || x.ExternalAddress == a {
				return "", x.Name
			}
		}
	}
	return u.Hostname(), ""
}

// mayHoldVIP says that the API's VIP may stand on a machine.
func (m *model) mayHoldVIP(x netplan.Machine) bool {
	if !m.Plan.KubeAPI.VIP.IsValid() || x.Role != netplan.RoleControlPlane {
		return false
	}
	return m.Plan.KubeAPI.Link == netplan.LinkCluster || x.External
}

// named gives the machines that a question is true of, in the plan's order.
func (m *model) named(is func(netplan.Machine) bool) []string {
	var out []string
	for _, x := range m.Plan.Machines {
		if is(x) {
			out = append(out, x.Name)
		}
	}
	return out
}

func isControlPlane(x netplan.Machine) bool { return x.Role == netplan.RoleControlPlane }

// runsPods says that workloads run on a machine.
func (m *model) runsPods(x netplan.Machine) bool {
	return x.Role == netplan.RoleWorker || !m.Plan.HasWorkers()
}
