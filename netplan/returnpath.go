package netplan

import "math/bits"

// The bounds of what an operator may choose, and of Linux below and above.
const (
	maxTable                 = 252 // Talos can name no higher one
	minPriority, maxPriority = 101, 32000
)

// returnPath settles the numbers of the return path.
func (r *resolver) returnPath() {
	s := r.spec.ReturnPath
	if k := r.plan.Kubernetes; k.CNI != "flannel" && k.KubeProxyReplacement && !s.Force {
		r.fault("kubernetes.kube_proxy_replacement", "a replacement of kube-proxy in BPF bypasses connection marks, so replies would not come home: use kube-proxy, or set return_path.force: true if you know better")
	}
	mark, mask := given(s.Mark, DefaultMark), given(s.Mask, DefaultMask)
	r.mark(mark, mask)
	table := given(s.Table, int(DefaultTable))
	if table < 1 || table > maxTable {
		r.fault("return_path.table", "%d is not a table Talos can name: give 1 to %d, like %d", table, maxTable, DefaultTable)
	} else if owner := tableOwner(TableID(table), r.plan.Kubernetes.CNI); owner != "" {
		r.fault("return_path.table", "table %d is %s's: give a free one, like %d", table, owner, DefaultTable)
	}
	priority := given(s.Priority, int(DefaultPriority))
	r.priority(priority)
	if r.plan.External == nil {
		return
	}
	base := Priority(priority)
	r.plan.ReturnPath = &ReturnPath{
		Mark: mark, Mask: mask, Table: TableID(table),
		Priorities: PrioritiesAt(base),
	}
	for _, m := range r.plan.Machines {
		if !r.plan.MarksConnections(m) {
			continue
		}
		r.plan.ReturnPath.Pod = PodNFT
		if r.spec.Agent.Image != "" {
			r.plan.ReturnPath.Pod = PodAgent
		}
		break
	}
}

// priority checks where our rules stand.
func (r *resolver) priority(priority int) {
	const path = "return_path.priority"
	if priority < minPriority || priority > maxPriority {
		r.fault(path, "%d leaves no room for our rules: give %d to %d, like %d", priority, minPriority, maxPriority, DefaultPriority)
		return
	}
	ours := PrioritiesAt(Priority(priority))
	all := []Priority{ours.PreferMain(), ours.VIP, ours.Mark, ours.VIPUnreachable, ours.MarkUnreachable}
	if owner, at := priorityOwner(all, r.plan.Kubernetes.CNI); owner != "" {
		r.fault(path, "%d puts our rules (%d to %d) among those of %s (%d to %d): give another one, like %d",
			priority, ours.PreferMain(), ours.MarkUnreachable, owner, at[0], at[1], DefaultPriority)
	}
}

// mark checks the bit that marks our connections.
func (r *resolver) mark(mark Mark, mask Mask) {
	const markPath, maskPath = "return_path.mark", "return_path.mask"
	switch n := bits.OnesCount32(uint32(mask)); {
	case mark == 0:
		r.fault(markPath, "zero marks nothing: give mark and mask the same bit, like %s", r.freeBit(uint32(mask)))
	case mask == 0:
		r.fault(maskPath, "zero matches everything: give mark and mask the same bit, like %s", r.freeBit(uint32(mark)))
	case uint32(mark)&^uint32(mask) != 0:
		r.clash(maskPath, markPath, "mark %s lies outside mask %s: give both the same bit, like %s", mark, mask, r.freeBit(uint32(mark)))
	case n > 1:
		r.fault(maskPath, "%s has %d bits: give mark and mask the same one, like %s", mask, n, r.freeBit(uint32(mark)))
	default:
		if owner, bits := markOwner(mask, r.plan.Kubernetes.CNI); owner != "" {
			r.fault(markPath, "%s is used by %s (%s): %s", mark, owner, bits, freeMarks(r.plan.Kubernetes.CNI))
		}
	}
}

// freeBit is v where it is one bit that no neighbour uses, else the default.
func (r *resolver) freeBit(v uint32) Mark {
	if owner, _ := markOwner(Mask(v), r.plan.Kubernetes.CNI); bits.OnesCount32(v) == 1 && owner == "" {
		return Mark(v)
	}
	return DefaultMark
}
