package talosgen

import (
	"testing"

	"homeward/netplan"
)

// BenchmarkMachinePatch renders a thousand machines per iteration.
func BenchmarkMachinePatch(b *testing.B) {
	p := fixture(func(p *netplan.Plan) {
		p.Talos.Firewall = true
		addMachines(p, netplan.RoleWorker, "batch", 994)
	})
	for b.Loop() {
		r, err := NewRenderer(p)
		if err != nil {
			b.Fatal(err)
		}
		for _, m := range p.Machines {
			if _, err := r.MachinePatch(m, pod(p, m)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
