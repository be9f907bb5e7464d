package talosgen

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

// TestTalosAcceptsEveryMachine puts every machine of every layout through Talos's
// own patcher and validator, on the bases of both contracts that a 1.13 cluster
// may have.
func TestTalosAcceptsEveryMachine(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			p := fixture(s.options...)
			for _, m := range p.Machines {
				patch := render(t, p, m)
				for _, contract := range []string{"v1.12", "v1.13"} {
					validate(t, apply(t, base(t, m.Role, contract, 0), patch))
				}
			}
		})
	}
}

// render gives a machine's patch with its pod.
func render(t testing.TB, p *netplan.Plan, m netplan.Machine) []byte {
	t.Helper()
	text, err := MachinePatch(p, m, pod(p, m))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestWhatTalosIsTold(t *testing.T) {
	const label = "label node.homeward/external=true"
	const excluded = "label node.kubernetes.io/exclude-from-external-load-balancers="
	for _, tt := range []struct {
		name, machine string
		options       []func(*netplan.Plan)
		// has are lines that must be there in this order; hasNot are beginnings of
		// lines that must not.
		has, hasNot []string
	}{
		{"a control plane with an external vip", "controlplane-01", nil, []string{
			"hostname edge-controlplane-01",
			`alias private mac(link.permanent_addr) == "02:00:ab:cd:00:01"`,
			`alias external mac(link.permanent_addr) == "02:01:ab:cd:00:01"`,
			"link external up true",
			"address external 169.254.33.1/32 metric 1024",
			"route external 203.0.113.0/25 table 251",
			"route external default via 203.0.113.1 table 251",
			"dhcp private",
			"vip 203.0.113.79 on external",
			"rule 1000 from 203.0.113.79/32 lookup 251",
			"rule 1001 fwmark 0x2000/0x2000 lookup 251",
			"rule 1010 from 203.0.113.79/32 unreachable",
			"rule 1011 fwmark 0x2000/0x2000 unreachable",
			"node subnets 10.0.0.0/24",
			"machine sans 203.0.113.79",
			label, excluded,
			"pod homeward-return-path",
			"etcd subnets 10.0.0.0/24",
		}, []string{"dhcp external", "address private", "mtu", "resolver 10.", "firewall"}},
		{"a worker beside it", "worker-02", nil, []string{
			"hostname edge-worker-02",
			"address external 169.254.33.5/32 metric 1024",
			"rule 1001 fwmark 0x2000/0x2000 lookup 251",
			"rule 1011 fwmark 0x2000/0x2000 unreachable",
			"node subnets 10.0.0.0/24",
			label, "pod homeward-return-path",
		}, []string{"vip", "rule 1000", "rule 1010", "etcd", "machine sans 2"}},
		{"a private vip is kept out of the node's addresses", "controlplane-01", opts(privateVIP), []string{
			"vip 10.0.0.240 on private",
			"rule 1001 fwmark 0x2000/0x2000 lookup 251",
			"node subnets 10.0.0.0/24 !10.0.0.240/32",
			"machine sans 10.0.0.240",
			"etcd subnets 10.0.0.0/24 !10.0.0.240/32",
		}, []string{"rule 1000", "rule 1010"}},
		{"an endpoint instead of a vip", "controlplane-01", opts(endpointOnly), []string{
			"machine sans api.example.edu",
		}, []string{"vip", "rule 1000", "rule 1010"}},
		{"no pool, but the vip answers from the external link", "controlplane-01", opts(noPool), []string{
			"route external default via 203.0.113.1 table 251",
			"rule 1000 from 203.0.113.79/32 lookup 251",
			"rule 1010 from 203.0.113.79/32 unreachable",
		}, []string{"pod", "rule 1001", "rule 1011", label}},
		{"no pool on a worker", "worker-01", opts(noPool), []string{
			"address external 169.254.33.4/32 metric 1024",
		}, []string{"pod", "rule", "route", label}},
		{"a pool of workers without the external nic", "batch-01", opts(batchPool), []string{
			"link private up true", "dhcp private",
		}, []string{"alias external", "link external", "route", "rule", "pod", label}},
		{"a control plane without the external nic", "controlplane-01", opts(privateVIP, privateControlPlanes), []string{
			"vip 10.0.0.240 on private", "machine sans 10.0.0.240",
		}, []string{"alias external", "link external", "route", "rule", "pod", label}},
		{"a cluster without an external network", "controlplane-01", opts(privateVIP, noExternal), []string{
			"vip 10.0.0.240 on private",
		}, []string{"alias external", "link external", "route", "rule", "pod", label}},
		{"static addressing", "worker-01", opts(static), []string{
			"link private up true",
			"address private 10.0.0.14/24 metric 1024",
			"route private default via 10.0.0.1",
			"resolver 10.0.0.1",
		}, []string{"dhcp", "route private default via 10.0.0.1 table"}},
		{"static addressing without gateway and dns", "worker-01", opts(static, isolated), []string{
			"address private 10.0.0.14/24 metric 1024",
		}, []string{"dhcp", "resolver 10.", "route private"}},
		{"a gateway outside the network", "worker-01", opts(gatewayOnLink), []string{
			"route external 198.51.100.1/32 table 251",
			"route external 203.0.113.0/25 table 251",
			"route external default via 198.51.100.1 table 251",
		}, nil},
		{"a large mtu on both links", "worker-01", opts(largeMTU), []string{
			"link private up true", "mtu private 9000", "mtu external 8000", "dhcp private",
		}, []string{"address private"}},
		{"a real external address instead of the anchor", "worker-01", opts(externalAddresses), []string{
			"address external 203.0.113.64/32 metric 1024",
		}, []string{"address external 169.254"}},
		{"a real external address needs the return path without a pool", "worker-01", opts(noPool, externalAddresses), []string{
			"rule 1001 fwmark 0x2000/0x2000 lookup 251", "pod homeward-return-path",
		}, []string{label}},
		{"no worker: control planes announce", "controlplane-01", opts(noWorkers), []string{label}, []string{excluded}},
		{"no worker and no pool: nothing to announce", "controlplane-01", opts(noWorkers, noPool), []string{excluded}, []string{label}},
		{"other numbers", "controlplane-01", opts(otherNumbers), []string{
			"route external default via 203.0.113.1 table 252",
			"rule 2000 from 203.0.113.79/32 lookup 252",
			"rule 2001 fwmark 0x1000/0x1000 lookup 252",
			"rule 2010 from 203.0.113.79/32 unreachable",
			"rule 2011 fwmark 0x1000/0x1000 unreachable",
		}, nil},
		{"a firewall that only its known ports pass", "controlplane-01", opts(firewall), []string{
			"firewall default block",
			"firewall tcp [[1 65535]] from [10.0.0.0/24 10.244.0.0/16 10.96.0.0/12]",
			"firewall udp [[1 65535]] from [10.0.0.0/24 10.244.0.0/16 10.96.0.0/12]",
			"firewall tcp [[7946 7946]] from [10.0.0.0/24]",
			"firewall udp [[7946 7946]] from [10.0.0.0/24]",
			"firewall udp [[68 68]] from [0.0.0.0/0]",
			"firewall tcp [[50000 50000]] from [0.0.0.0/0]",
			"firewall tcp [[6443 6443]] from [0.0.0.0/0]",
			"firewall tcp [[80 80]] from [0.0.0.0/0]",
			"firewall tcp [[443 443]] from [0.0.0.0/0]",
		}, nil},
		{"a firewall with allowlists", "controlplane-01", opts(firewall, allowlists), []string{
			"firewall tcp [[50000 50000]] from [198.51.100.0/24]",
			"firewall tcp [[6443 6443]] from [198.51.100.0/24]",
			"firewall tcp [[443 443]] from [0.0.0.0/0]",
			"firewall tcp [[9100 9100]] from [198.51.100.0/24]",
		}, []string{"firewall tcp [[80 80]]"}},
		{"a worker's firewall has no api server", "worker-01", opts(firewall, static), []string{
			"firewall default block", "firewall tcp [[50000 50000]] from [0.0.0.0/0]",
		}, []string{"firewall tcp [[6443", "firewall udp [[68"}},
		{"a control plane on openstack", "controlplane-01", opts(cloud), []string{
			"hostname edge-controlplane-01",
			`alias private mac(link.permanent_addr) == "02:00:ab:cd:00:01"`,
			"link private up true",
			"dhcp private",
			"vip 10.0.0.240 on private",
			"node subnets 10.0.0.0/24 !10.0.0.240/32 !10.0.0.241/32",
			"machine sans 10.0.0.240 203.0.113.81",
			excluded,
			"api sans 10.0.0.240 203.0.113.81",
			"etcd subnets 10.0.0.0/24 !10.0.0.240/32 !10.0.0.241/32",
		}, []string{"alias external", "link external", "address", "route", "rule", "pod", "mtu", "resolver 10.", label}},
		{"a worker on openstack, its address by dhcp though chosen", "worker-01", opts(static, cloud), []string{
			"link private up true", "dhcp private", "node subnets 10.0.0.0/24 !10.0.0.240/32 !10.0.0.241/32",
		}, []string{"alias external", "address", "route", "rule", "pod", "vip", "resolver 10.", "etcd", "machine sans 1", "label"}},
		{"no worker on openstack: control planes announce", "controlplane-01", opts(noWorkers, cloud), []string{
			"vip 10.0.0.240 on private",
		}, []string{excluded, label}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := fixture(tt.options...)
			m := machine(p, tt.machine)
			lines := describe(apply(t, base(t, m.Role, "v1.13", 0), render(t, p, m)))
			wantLines(t, lines, tt.has, tt.hasNot)
		})
	}
}

// wantLines compares what was found of has, in the order found.
func wantLines(t *testing.T, lines, has, hasNot []string) {
	t.Helper()
	var found []string
	for _, line := range lines {
		if slices.Contains(has, line) {
			found = append(found, line)
		}
		for _, prefix := range hasNot {
			if strings.HasPrefix(line, prefix) {
				t.Errorf("unwanted: %s", line)
			}
		}
	}
	if diff := cmp.Diff(has, found); diff != "" {
		t.Errorf("facts (-want +got):\n%s\nall:\n%s", diff, strings.Join(lines, "\n"))
	}
}

func TestMachinePatchRefusesAPodThatDoesNotFit(t *testing.T) {
	p := fixture(batchPool)
	for _, tt := range []struct {
		name, machine string
		pod           map[string]any
	}{
		{"a pod where nothing is marked", "batch-01", pod(p, machine(p, "worker-01"))},
		{"no pod where connections are marked", "worker-01", nil},
		{"a pod without a name", "worker-01", map[string]any{"kind": "Pod"}},
		{"a pod of another name", "worker-01", map[string]any{"metadata": map[string]any{"name": "other"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if text, err := MachinePatch(p, machine(p, tt.machine), tt.pod); err == nil {
				t.Errorf("accepted:\n%s", text)
			}
		})
	}
}

// What Talos is to hold an address by must not be written without it.
func TestNoPatchWithoutAddresses(t *testing.T) {
	p := fixture(cloud)
	p.KubeAPI.VIP, p.KubeAPI.Fixed = netip.Addr{}, netip.Addr{}
	if _, err := NewRenderer(p); !errors.Is(err, netplan.ErrUnallocated) || !strings.Contains(err.Error(), "kubeapi.fixed") {
		t.Errorf("got %v", err)
	}
}
