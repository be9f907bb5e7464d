//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"os"
	"strings"
	"time"

	"homeward/agent/kernel"
	"homeward/agent/ledger"
	"homeward/agent/ledger/inventory"
	"homeward/agent/pvefs"
	"homeward/agent/segment"
	"homeward/netplan"
)

// watched is what `host` looks at: which addresses, where, and who is who.
type watched struct {
	plan    *netplan.Plan // nil without one
	leg     kernel.LegConfig
	targets []segment.Target
	// ours are the plan's machines by MAC, known all others that have a name.
	ours, known map[netplan.MAC]string
}

// gather reads the plan and /etc/pve, and merges them with the command line.
func (o hostOptions) gather() (watched, error) {
	w := watched{leg: o.leg, ours: map[netplan.MAC]string{}, known: map[netplan.MAC]string{}}
	if o.planFile != "" {
		plan, err := readPlan(o.planFile)
		if err != nil {
			return w, err
		}
		if err := w.fromPlan(plan); err != nil {
			return w, err
		}
	}
	if o.pve != "" {
		if err := w.fromHost(o.pve); err != nil {
			return w, err
		}
	}
	w.fromFlags(o)
	if w.leg == (kernel.LegConfig{}) {
		return w, fmt.Errorf("the plan names no external segment: give --interface, or --bridge and --vlan")
	}
	return w, nil
}

// readPlan reads a plan.json. It may be large, but not endless.
func readPlan(name string) (*netplan.Plan, error) {
	const most = 64 << 20
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the plan: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, fmt.Errorf("reading the plan: %w", err)
	}
	var plan netplan.Plan
	if err := json.Unmarshal(text, &plan); err != nil {
		return nil, fmt.Errorf("reading the plan %s: %w: give the plan.json that homeward generate wrote", name, err)
	}
	if plan.Name == "" {
		return nil, fmt.Errorf("reading the plan %s: it has no name: give the plan.json that homeward generate wrote", name)
	}
	return &plan, nil
}

func (w *watched) fromPlan(plan *netplan.Plan) (err error) {
	if plan.OpenStack != nil {
		return fmt.Errorf("the plan is for OpenStack: its network has no segment of a Proxmox host to listen on")
	}
	w.plan = plan
	if w.targets, err = segment.Targets(plan); err != nil {
		return err
	}
	w.ours = segment.Names(plan)
	if e := plan.External; e != nil && w.leg == (kernel.LegConfig{}) {
		w.leg = kernel.LegConfig{Interface: e.VNet, Bridge: e.Bridge, VLAN: e.VLAN}
		if e.VNet != "" { // on its hosts a VNet is a bridge of that name
			w.leg = kernel.LegConfig{Interface: e.VNet}
		}
	}
	return nil
}

// fromHost names MACs by the guests of this Proxmox cluster, and takes over what is
// reserved on the segment.
func (w *watched) fromHost(dir string) error {
	node, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("asking for this host's name: %w", err)
	}
	node, _, _ = strings.Cut(node, ".") // Proxmox names its nodes without the domain
	s, err := pvefs.ReadDir(node, dir, pvefs.NetworkDir)
	if err != nil {
		return err
	}
	w.known = inventory.Names(s)
	if w.plan != nil {
		for mac, name := range inventory.Machines(w.plan, s) {
			if w.ours[mac] == "" {
				w.ours[mac] = name
			}
		}
	}
	w.fromRecord(s)
	return nil
}

// fromRecord adds the addresses that other clusters have reserved on the segment: who
// answers for them is for their owners to judge. Where the segment has no one name in
// this Proxmox cluster there is no record to look into.
func (w *watched) fromRecord(s *inventory.Snapshot) {
	at := netplan.Segment{Bridge: w.leg.Bridge, VLAN: w.leg.VLAN}
	if w.plan != nil && w.plan.External != nil {
		at = w.plan.External.Segment
	}
	if located, err := inventory.Locate(s, at); err == nil {
		at = located
	}
	name, err := ledger.SetName(at)
	if err != nil {
		return
	}
	known := map[netip.Addr]bool{}
	for _, t := range w.targets {
		known[t.Address] = true
	}
	for _, set := range s.Sets {
		if set.VMID != 0 || set.Name != name {
			continue
		}
		for _, m := range set.Members {
			a, err := netip.ParseAddr(m.CIDR)
			if err != nil || !a.Is4() || known[a] || len(w.targets) >= segment.MaxAddresses {
				continue
			}
			known[a] = true
			w.targets = append(w.targets, segment.Target{Address: a, Use: segment.UseReserved})
		}
	}
}

// fromFlags adds what the command line names. What the plan has already stays what
// it is there, but for a gateway that is named otherwise.
func (w *watched) fromFlags(o hostOptions) {
	at := map[netip.Addr]int{}
	for i, t := range w.targets {
		if o.gateway.IsValid() && t.Gateway {
			w.targets[i].Gateway, w.targets[i].Witness = false, false
		}
		at[t.Address] = i
	}
	add := func(a netip.Addr, use string, change func(*segment.Target)) {
		i, ok := at[a]
		if !ok {
			i = len(w.targets)
			at[a] = i
			w.targets = append(w.targets, segment.Target{Address: a, Use: use})
		}
		change(&w.targets[i])
	}
	if o.gateway.IsValid() {
		add(o.gateway, segment.UseGateway, func(t *segment.Target) { t.Use, t.Gateway, t.Witness, t.Ours = segment.UseGateway, true, true, false })
	}
	for _, a := range o.witnesses {
		add(a, "witness", func(t *segment.Target) { t.Witness = true })
	}
	for _, a := range o.addresses.Addresses() {
		if _, ok := at[a]; !ok {
			add(a, segment.UseAsked, func(t *segment.Target) { t.Ours = true })
		}
	}
}

// name is a MAC's name, ours or another.
func (w *watched) name(mac netplan.MAC) string {
	if n := w.ours[mac]; n != "" {
		return n
	}
	return w.known[mac]
}

// config is the watch's.
func (w *watched) config(every time.Duration) segment.Config {
	return segment.Config{Targets: w.targets, Names: maps.Clone(w.ours), Known: maps.Clone(w.known), Every: every}
}
