package netplan

import (
	"cmp"
	"net/netip"
	"strconv"
)

// unshared refuses what two machines cannot have both: hostname, VMID, MAC,
// address. The fault stands at the machine that comes later, or at the one that
// the operator wrote about.
func (r *resolver) unshared() {
	type owner struct{ machine, field string }
	owners := make(map[string]owner, 4*len(r.plan.Machines))
	written := make(map[string]bool, len(r.spec.Machines))
	for _, s := range r.spec.Machines {
		written[s.Name] = true
	}
	claim := func(kind, value, machine, field string) {
		key := kind + " " + value
		holder, taken := owners[key]
		if !taken {
			owners[key] = owner{machine, field}
			return
		}
		later := owner{machine, field}
		if !written[later.machine] && written[holder.machine] {
			later, holder = holder, later
		}
		other := "machines." + holder.machine + "." + holder.field
		if !written[holder.machine] {
			other = ""
		}
		r.clash("machines."+later.machine+"."+later.field, other, "%s %s is also %s's: give each its own", kind, value, holder.machine)
	}
	names := make(map[string]bool, len(r.plan.Machines))
	for _, m := range r.plan.Machines {
		if names[m.Name] {
			r.fault("workers."+m.Pool, "hostname %s is made twice: give the pool another name", m.Name)
			return
		}
		names[m.Name] = true
		if m.VMID != 0 {
			claim("VMID", strconv.Itoa(m.VMID), m.Name, "vmid")
		}
		claim("MAC", m.MACs.Cluster.String(), m.Name, "macs.cluster")
		if m.External {
			claim("MAC", m.MACs.External.String(), m.Name, "macs.external")
		}
		for _, a := range []struct {
			field string
			addr  netip.Addr
		}{{"address", m.Address}, {"external_address", m.ExternalAddress}, {"anchor", m.Anchor}} {
			if a.addr.IsValid() {
				claim(cmp.Or(map[string]string{"anchor": "anchor"}[a.field], "address"), a.addr.String(), m.Name, a.field)
			}
		}
	}
}
