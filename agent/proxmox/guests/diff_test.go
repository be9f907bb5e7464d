package guests

import (
	"strings"
	"testing"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// read is Read without a chance to fail.
func read(t *testing.T, f *fake) Actual {
	t.Helper()
	a, err := Read(t.Context(), f, f.at())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// text is a difference as a dry run shows it.
func text(found Difference) string {
	var b strings.Builder
	for _, s := range found.Steps {
		b.WriteString(s.String() + "\n")
	}
	for _, i := range found.Items {
		b.WriteString("item: " + i.Message + "\n")
		for _, c := range i.Commands {
			b.WriteString("    " + c + "\n")
		}
	}
	return b.String()
}

func TestDiffSteps(t *testing.T) {
	p := edge(t)
	for name, c := range map[string]struct {
		guest   func() *fake
		machine int
		options Options
		plan    func(*netplan.Plan)
	}{
		"running":      {guest: worker, machine: 1},
		"bare":         {guest: bare, machine: 1},
		"controlplane": {guest: func() *fake { f := bare(); f.Name = "edge-controlplane-01"; return f }, machine: 0},
		"ungoverned":   {guest: worker, machine: 1, plan: func(p *netplan.Plan) { p.Security = nil }},
		"replug": {guest: func() *fake {
			f := worker()
			f.nic("net1", "e1000=02:00:00:00:00:04,bridge=vmbr3,rate=10")
			return f
		}, machine: 1, options: Options{AllowReplug: true}},
		"harmful": {guest: harmful, machine: 1},
	} {
		t.Run(name, func(t *testing.T) {
			plan := *p
			if c.plan != nil {
				c.plan(&plan)
			}
			found, err := Diff(For(&plan, plan.Machines[c.machine], owner), read(t, c.guest()), Surroundings{}, c.options)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", text(found))
		})
	}
}

// harmful is a guest whose firewall must not be switched on by us, with what others
// put there that harms.
func harmful() *fake {
	f := worker()
	f.Options = map[string]string{"policy_out": "DROP", "ipfilter": "1"}
	set := f.Sets["ipfilter-net1"]
	set.Members = append(set.Members, fakeMember{CIDR: "upstream"}, fakeMember{CIDR: "203.0.113.76", NoMatch: true})
	f.Rules = append([]map[string]string{
		{"type": "in", "action": "DROP", "enable": "1", "proto": "icmp", "comment": "no ping"},
		{"type": "in", "action": "ACCEPT", "enable": "1", "proto": "tcp", "dport": "50000", "comment": "for a moment"},
		{"type": "group", "action": "web", "enable": "1"},
	}, f.Rules...)
	f.nic("net0", "virtio=02:00:00:00:00:03,bridge=vmbr1,link_down=1")
	f.nic("net1", "e1000=02:00:00:00:00:04,bridge=vmbr0,mtu=1400,tag=1691")
	return f
}

func TestDiffRefusesWhatIsNotOurs(t *testing.T) {
	p := edge(t)
	stranger := map[string]string{"net0": "virtio=BC:24:11:00:00:09,bridge=vmbr1"}
	for name, c := range map[string]struct {
		edit func(*fake, *Desired)
		want string
	}{
		"a template":             {func(f *fake, _ *Desired) { f.Template = true }, "it is a template"},
		"another vmid":           {func(_ *fake, d *Desired) { d.Machine.VMID = 202 }, "the plan gives it vmid 202"},
		"another name and MACs":  {func(f *fake, d *Desired) { f.Name, f.Config, f.Current = "db1", stranger, stranger }, "neither its name nor a MAC is"},
		"without an owner":       {func(_ *fake, d *Desired) { d.Owner.ID = "" }, "no owner"},
		"a NIC we cannot read":   {func(f *fake, _ *Desired) { f.Config["net3"] = "virtio=zz" }, "reading net3"},
		"a name that is longer":  {func(f *fake, d *Desired) { f.Name, f.Config, f.Current = "edge-worker-011", stranger, stranger }, "is not edge-worker-01"},
		"only pending MACs":      {func(f *fake, d *Desired) { f.Name, f.Current = "x", stranger }, ""},
		"only its name is right": {func(f *fake, d *Desired) { f.Config, f.Current = stranger, stranger }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, d := worker(), For(p, p.Machines[1], owner)
			c.edit(f, &d)
			_, err := Diff(d, read(t, f), Surroundings{}, Options{})
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestDiffCards(t *testing.T) {
	p := edge(t)
	jumbo := func(p *netplan.Plan) { p.External.MTU = 9000 }
	bridges := func(mtu int) Surroundings {
		return Surroundings{Nodes: []inventory.Node{{Name: fakeNode, Interfaces: []inventory.Interface{{Name: "vmbr0", MTU: mtu}, {Name: "vmbr1"}}}}}
	}
	const base = "virtio=02:00:00:00:00:04,bridge=vmbr0,firewall=1,tag=1691"
	for name, c := range map[string]struct {
		net1    string
		stopped bool
		around  Surroundings
		plan    func(*netplan.Plan)
		want    string // what the PUT sets, empty for none
		item    string
	}{
		"as it should be":                  {net1: base},
		"its own MTU where it is the same": {net1: base + ",mtu=1500", around: bridges(9000)},
		"no MTU on a jumbo bridge":         {net1: base, around: bridges(9000), item: "MTU from 0 to 1500"},
		"no MTU on a jumbo bridge, off":    {net1: base, around: bridges(9000), stopped: true, want: base + ",mtu=1500"},
		"the bridge's MTU":                 {net1: base + ",mtu=1", around: bridges(9000), plan: jumbo},
		"more than the bridge has":         {net1: base, around: bridges(1500), plan: jumbo, stopped: true, item: "has MTU 1500, less than the plan's 9000"},
		"a bridge that is not there":       {net1: "virtio=02:00:00:00:00:04,bridge=vmbr9", around: Surroundings{Nodes: []inventory.Node{{Name: fakeNode, Interfaces: []inventory.Interface{{Name: "vmbr1"}}}}}, item: "vmbr0 is not to be seen"},
		"another model, live":              {net1: "e1000=02:00:00:00:00:04,bridge=vmbr0,firewall=1,tag=1691", item: "model from e1000 to virtio"},
		"another model and tag, live":      {net1: "e1000=02:00:00:00:00:04,bridge=vmbr0,firewall=1,tag=9", want: "e1000=02:00:00:00:00:04,bridge=vmbr0,firewall=1,tag=1691", item: "model from e1000 to virtio"},
		"another MAC and tag, live":        {net1: "virtio=BC:24:11:00:00:09,bridge=vmbr0,firewall=1,tag=9", item: "MAC from bc:24:11:00:00:09 to 02:00:00:00:00:04"},
		"options that are not ours":        {net1: "model=virtio,macaddr=02:00:00:00:00:04,bridge=vmbr5,queues=8,firewall=0,new=x", want: "model=virtio,macaddr=02:00:00:00:00:04,bridge=vmbr0,queues=8,firewall=1,new=x,tag=1691"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := *p
			ext := *p.External
			plan.External = &ext
			if c.plan != nil {
				c.plan(&plan)
			}
			f := worker()
			f.Running = !c.stopped
			f.nic("net1", c.net1)
			found, err := Diff(For(&plan, plan.Machines[1], owner), read(t, f), c.around, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, s := range found.Steps {
				got += s.Request.Params.Get("net1")
			}
			if got != c.want {
				t.Errorf("sets %q, want %q", got, c.want)
			}
			if all := text(Difference{Items: found.Items}); c.item == "" && all != "" || !strings.Contains(all, c.item) {
				t.Errorf("items are %q, want %q", all, c.item)
			}
		})
	}
}

func TestDiffOfAFrozenGuestWaits(t *testing.T) {
	p := edge(t)
	d := For(p, p.Machines[1], owner)
	f := worker()
	f.Frozen = true
	if _, err := apply(f, d, Options{}); err != nil {
		t.Fatal(err)
	}
	f.writes = 0
	again, err := apply(f, d, Options{})
	if err != nil || f.writes > 0 {
		t.Fatalf("%d writes: %v", f.writes, err)
	}
	if all := text(Difference{Items: again.Items}); !strings.Contains(all, "when the guest is started again") || !strings.Contains(all, "qm reboot 201") {
		t.Errorf("items are %q", all)
	}
}
