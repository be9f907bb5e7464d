package netplan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// MaxMachines bounds a plan. Kubernetes itself supports 5,000 nodes.
const MaxMachines = 10_000

// maxHostname is the length of one RFC 1123 label.
const maxHostname = 63

var hostLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// poolControlPlane is the pool of the control planes.
const poolControlPlane = "controlplane"

// pools makes the machines: control planes first, then pools by name, each in
// numeric order. Counts and names are checked first.
func (r *resolver) pools() {
	s := r.spec
	named := r.label("name", s.Name, "edge") && r.shortEnough()
	pools := []PoolSpec{{Name: poolControlPlane, Count: s.ControlPlanes, NoExternal: s.ControlPlaneNoExternal}}
	workers := slices.Clone(s.Workers)
	slices.SortFunc(workers, func(a, b PoolSpec) int { return strings.Compare(a.Name, b.Name) })
	pools = append(pools, workers...)
	total := 0
	for i, pool := range pools {
		path := "workers." + pool.Name
		if i == 0 {
			path = poolControlPlane
		} else if pool.Name == poolControlPlane {
			r.fault(path, "this name belongs to the control planes: give the pool another one")
			continue
		} else if !r.label(path, pool.Name, "worker") {
			continue
		}
		n := r.count(path, pool, i == 0)
		if total += n; total > MaxMachines {
			r.fault(path+".count", "%d machines are more than %d in one plan", total, MaxMachines)
			return
		}
		if n > 0 && named {
			r.grow(path, pool, n)
		}
	}
}

// shortEnough refuses a cluster's name that leaves no room for the control planes'
// hostnames. No machine is made then: others would be too long for the same
// reason.
func (r *resolver) shortEnough() bool {
	count := max(given(r.spec.ControlPlanes, 1), 1)
	longest := hostname(r.spec.Name, poolControlPlane, min(count, MaxMachines))
	if over := len(longest) - maxHostname; over > 0 {
		r.fault("name", "hostname %s has %d characters, more than %d: give a name of at most %d", longest, len(longest), maxHostname, len(r.spec.Name)-over)
		return false
	}
	return true
}

// label checks one part of a hostname.
func (r *resolver) label(path, s, example string) bool {
	switch {
	case s == "":
		r.fault(path, "missing: give a name like %s", example)
	case hostLabel.MatchString(s):
		return true
	case hostLabel.MatchString(strings.ToLower(s)):
		r.fault(path, "%s has upper-case letters, which no hostname may: give %s", Quote(s), strings.ToLower(s))
	default:
		r.fault(path, "%s cannot be part of a hostname (RFC 1123): give lower-case letters, digits and inner dashes, like %s", Quote(s), example)
	}
	return false
}

func (r *resolver) count(path string, pool PoolSpec, controlPlane bool) int {
	switch {
	case pool.Count == nil:
		r.fault(path+".count", "missing: give the number of machines")
	case *pool.Count < 0 || controlPlane && *pool.Count == 0:
		r.fault(path+".count", "%d is not a number of machines: give 1 or more", *pool.Count)
	case *pool.Count > MaxMachines:
		r.fault(path+".count", "%d machines are more than %d in one plan", *pool.Count, MaxMachines)
	default:
		return *pool.Count
	}
	return 0
}

// grow adds a pool's machines to the plan.
func (r *resolver) grow(path string, pool PoolSpec, n int) {
	role := RoleWorker
	if path == poolControlPlane {
		role = RoleControlPlane
	}
	longest := hostname(r.spec.Name, pool.Name, n)
	if len(longest) > maxHostname {
		r.fault(path, "hostname %s has %d characters, more than %d: give a shorter name", longest, len(longest), maxHostname)
		return
	}
	external := r.spec.External != nil && !pool.NoExternal
	for i := 1; i <= n; i++ {
		m := Machine{Name: hostname(r.spec.Name, pool.Name, i), Role: role, Pool: pool.Name, External: external}
		m.MACs.Cluster = deriveMAC(r.spec.Name, m.Name, nicPrivate)
		if external {
			m.MACs.External = deriveMAC(r.spec.Name, m.Name, nicExternal)
		}
		r.plan.Machines = append(r.plan.Machines, m)
	}
}

func hostname(cluster, pool string, n int) string {
	return fmt.Sprintf("%s-%s-%02d", cluster, pool, n)
}
