package daytwo

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"homeward/netplan"
)

// listLimit is how many machines are named one by one; plan.json has them all.
const listLimit = 24

// facts are what the chapters say of a plan.
type facts struct {
	*netplan.Plan
	// ControlPlanes and Workers are hostnames in the plan's order.
	ControlPlanes, Workers []string
	// ControlPlaneFiles and WorkerFiles are words for a shell's for loop.
	ControlPlaneFiles, WorkerFiles string
	// Example is the machine in single commands: the first with the return path,
	// else the first. The plan has at least one machine.
	Example netplan.Machine
	// BasePatch is JSON for talosctl gen config, empty when its defaults are the
	// plan's.
	BasePatch string
	// Pool is the pool's text, empty without a pool.
	Pool string
	// TestHost and TestPort are where a test from outside goes.
	TestHost netip.Addr
	TestPort int
	// ListMachines says that the cluster is small enough for a table.
	ListMachines bool
	// What chapters and sentences depend on. HasPod says that some machine runs the
	// static pod, RunsAgent that the agent is in it, PinnedImage that its image is
	// named by digest.
	// Reserves says that there is something to reserve on the segment.
	HasPool, HasVIP, VIPExternal, AllAnnounce bool
	Reserves                                  bool
	HasPod, RunsAgent, PinnedImage            bool
	Names                                     names
}

// names that other rooms own, and those of the earlier scheme.
type names struct {
	Pod, Table, Label, EarlierTable string
	EarlierRouteTable               netplan.TableID
}

func newFacts(p *netplan.Plan) facts {
	f := facts{
		Plan:         p,
		ListMachines: len(p.Machines) <= listLimit,
		HasVIP:       p.KubeAPI.VIP.IsValid(),
		VIPExternal:  p.KubeAPI.Link == netplan.LinkExternal,
		HasPod:       slices.ContainsFunc(p.Machines, p.MarksConnections),
		PinnedImage:  strings.Contains(p.Agent.Image, "@sha256:"),
		AllAnnounce:  p.AnnouncesEverywhere(),
		BasePatch:    basePatch(p.Kubernetes),
		Names: names{Pod: netplan.PodName, Table: "inet " + netplan.NFTablesTable, Label: netplan.LabelExternal,
			EarlierTable: "ip " + netplan.LegacyNFTablesTable, EarlierRouteTable: netplan.LegacyTable},
	}
	for _, m := range p.Machines {
		if m.Role == netplan.RoleControlPlane {
			f.ControlPlanes = append(f.ControlPlanes, m.Name)
		} else {
			f.Workers = append(f.Workers, m.Name)
		}
	}
	f.ControlPlaneFiles, f.WorkerFiles = loop(f.ControlPlanes, p.Name), loop(f.Workers, p.Name)
	f.Example = example(p)
	f.RunsAgent = f.HasPod && p.ReturnPath != nil && p.ReturnPath.Pod == netplan.PodAgent
	if pool := p.ServicePool(); len(pool) > 0 {
		f.HasPool, f.Pool = true, poolText(pool)
		f.TestHost, f.TestPort = pool[0].First, netplan.PortHTTPS
		if p.Ingress.Address.IsValid() {
			f.TestHost = p.Ingress.Address
		}
		if p.OpenStack != nil {
			f.TestHost = p.Ingress.Floating
		}
	}
	f.Reserves = f.HasPool || f.VIPExternal
	return f
}

func example(p *netplan.Plan) netplan.Machine {
	ranked := slices.Clone(p.Machines)
	rank := func(m netplan.Machine) int {
		switch {
		case p.MarksConnections(m) && m.Role == netplan.RoleWorker:
			return 0
		case p.MarksConnections(m):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(ranked, func(a, b netplan.Machine) int { return cmp.Compare(rank(a), rank(b)) })
	if len(ranked) == 0 {
		return netplan.Machine{}
	}
	return ranked[0]
}

// loop names the hosts, or finds their files where there are many. A pattern that
// takes in a host of the other role would give it the wrong base, so control
// planes are always named.
func loop(hosts []string, cluster string) string {
	if len(hosts) <= listLimit || strings.HasPrefix(hosts[0], cluster+"-controlplane-") {
		return strings.Join(hosts, " ")
	}
	return fmt.Sprintf("$(cd talos && ls %s-*.yaml | grep -v '^%s-controlplane-' | sed 's/[.]yaml$//')", cluster, cluster)
}

func poolText(set netplan.AddressSet) string {
	var parts []string
	for _, r := range set {
		parts = append(parts, strings.TrimSuffix(r.String(), "/32"))
	}
	return strings.Join(parts, ", ")
}

// basePatch says what `talosctl gen config` must be told: its own defaults are
// flannel, 10.244.0.0/16 and 10.96.0.0/12.
func basePatch(k netplan.Kubernetes) string {
	var fields []string
	if k.CNI != "flannel" {
		fields = append(fields, `"cni":{"name":"none"}`)
	}
	if k.PodCIDR.IsValid() && k.PodCIDR.String() != "10.244.0.0/16" {
		fields = append(fields, fmt.Sprintf(`"podSubnets":["%s"]`, k.PodCIDR))
	}
	if k.ServiceCIDR.IsValid() && k.ServiceCIDR.String() != "10.96.0.0/12" {
		fields = append(fields, fmt.Sprintf(`"serviceSubnets":["%s"]`, k.ServiceCIDR))
	}
	if len(fields) == 0 {
		return ""
	}
	return `{"cluster":{"network":{` + strings.Join(fields, ",") + `}}}`
}
