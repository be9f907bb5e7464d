package inventory

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"homeward/netplan"
)

func mustMAC(t *testing.T, s string) netplan.MAC {
	t.Helper()
	mac, err := netplan.ParseMAC(s)
	if err != nil {
		t.Fatal(err)
	}
	return mac
}

func TestParseNIC(t *testing.T) {
	mac := mustMAC(t, "bc:24:11:00:00:02")
	for _, c := range []struct {
		name string
		kind GuestKind
		text string
		want NIC
	}{
		{"model and MAC in one", QEMU, "virtio=BC:24:11:00:00:02,bridge=vmbr0,firewall=1,mtu=1400,queues=4,tag=1691",
			NIC{Model: "virtio", MAC: mac, Bridge: "vmbr0", Firewall: true, MTU: 1400, Tag: 1691}},
		{"model and MAC apart", QEMU, "model=virtio,macaddr=bc:24:11:00:00:02,bridge=vmbr0",
			NIC{Model: "virtio", MAC: mac, Bridge: "vmbr0"}},
		{"model as the default key", QEMU, "e1000,bridge=vmbr0", NIC{Model: "e1000", Bridge: "vmbr0"}},
		{"a model that is new", QEMU, "warp9=BC:24:11:00:00:02,bridge=vmbr0", NIC{Model: "warp9", MAC: mac, Bridge: "vmbr0"}},
		{"user network", QEMU, "virtio=BC:24:11:00:00:02", NIC{Model: "virtio", MAC: mac}},
		{"trunks and a pulled plug", QEMU, "virtio=BC:24:11:00:00:02,bridge=vmbr0,link_down=yes,trunks=10;20-30",
			NIC{Model: "virtio", MAC: mac, Bridge: "vmbr0", LinkDown: true, Trunks: VLANSet{{10, 10}, {20, 30}}}},
		{"empty parts", QEMU, ",virtio=BC:24:11:00:00:02,,bridge=vmbr0,", NIC{Model: "virtio", MAC: mac, Bridge: "vmbr0"}},
		{"container", LXC, "name=eth0,bridge=vmbr0,gw=203.0.113.1,hwaddr=BC:24:11:00:00:02,ip=203.0.113.20/25,tag=1691,type=veth",
			NIC{Name: "eth0", MAC: mac, Bridge: "vmbr0", Tag: 1691, IPConfig: IPConfig{
				Address: netip.MustParsePrefix("203.0.113.20/25"), Gateway: netip.MustParseAddr("203.0.113.1")}}},
		{"container by DHCP", LXC, "name=eth0,bridge=vmbr0,ip=dhcp,ip6=auto", NIC{Name: "eth0", Bridge: "vmbr0", IPConfig: IPConfig{DHCP: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseNIC(c.kind, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != c.text {
				t.Errorf("String() = %s, want %s", got, c.text)
			}
			type fields NIC // without the method Equal, which compares the text
			c.want.Kind = c.kind
			if diff := cmp.Diff(fields(c.want), fields(got), cmpopts.IgnoreUnexported(fields{}), cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseNICRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		kind GuestKind
		text string
		want string
	}{
		{"no model", QEMU, "bridge=vmbr0,tag=30", "no model: give one like virtio"},
		{"model twice", QEMU, "virtio=BC:24:11:00:00:02,model=e1000", `model or MAC is given twice: "virtio" beside "e1000"`},
		{"bare model and model", QEMU, "virtio,model=e1000", `model is given twice: "e1000" and "virtio"`},
		{"a MAC of five bytes", QEMU, "virtio=BC:24:11:00:00,bridge=vmbr0", `"BC:24:11:00:00" is not a MAC address: give six bytes like bc:24:11:00:00:01`},
		{"an option twice", QEMU, "virtio=BC:24:11:00:00:02,bridge=vmbr0,bridge=vmbr1", `"bridge=vmbr1" is given twice`},
		{"no value", QEMU, "virtio=BC:24:11:00:00:02,bridge=", `"bridge=" has no key or no value`},
		{"a blank before the key", QEMU, "virtio=BC:24:11:00:00:02, bridge=vmbr0", `" bridge" is no option's name`},
		{"tag 0", QEMU, "virtio=BC:24:11:00:00:02,bridge=vmbr0,tag=0", `tag: "0" is not a VLAN: 1 to 4094 are`},
		{"trunks backwards", QEMU, "virtio=BC:24:11:00:00:02,bridge=vmbr0,trunks=9-8", `trunks: "9-8" ends before it starts`},
		{"firewall", QEMU, "virtio=BC:24:11:00:00:02,bridge=vmbr0,firewall=maybe", `firewall="maybe" is neither 0 nor 1`},
		{"mtu", QEMU, "virtio=BC:24:11:00:00:02,bridge=vmbr0,mtu=big", `mtu "big" is not a number of bytes`},
		{"container without a name", LXC, "bridge=vmbr0", "no name: give one like eth0"},
		{"address without length", LXC, "name=eth0,bridge=vmbr0,ip=203.0.113.20", `ip="203.0.113.20" is no IPv4 address with its prefix length`},
		{"gateway", LXC, "name=eth0,gw=router", `gw="router" is no IPv4 address`},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := ParseNIC(c.kind, c.text)
			if err == nil {
				t.Fatalf("took it as %+v", n)
			}
			if err.Error() != c.want {
				t.Errorf("says %s\nwant %s", err, c.want)
			}
		})
	}
}

func TestNICKeepsWhatIsNotChanged(t *testing.T) {
	for _, c := range []struct {
		name, text, key, value, want string
	}{
		{"tag added at the end", "virtio=BC:24:11:00:00:02,bridge=vmbr0,queues=4", "tag", "30", "virtio=BC:24:11:00:00:02,bridge=vmbr0,queues=4,tag=30"},
		{"bridge where it stood", "virtio=BC:24:11:00:00:02,bridge=vmbr0,hyper=1,rate=2.5", "bridge", "vmbr1", "virtio=BC:24:11:00:00:02,bridge=vmbr1,hyper=1,rate=2.5"},
		{"model with its MAC", "bridge=vmbr0,e1000=BC:24:11:00:00:02,queues=4", "model", "virtio", "bridge=vmbr0,virtio=BC:24:11:00:00:02,queues=4"},
		{"model by its key", "model=e1000,macaddr=BC:24:11:00:00:02,bridge=vmbr0", "model", "virtio", "model=virtio,macaddr=BC:24:11:00:00:02,bridge=vmbr0"},
		{"model alone", "e1000,bridge=vmbr0", "model", "virtio", "virtio,bridge=vmbr0"},
		{"MAC of the model", "virtio=BC:24:11:00:00:02,bridge=vmbr0", "macaddr", "02:00:00:00:00:01", "virtio=02:00:00:00:00:01,bridge=vmbr0"},
		{"MAC of a bare model", "virtio,bridge=vmbr0", "macaddr", "02:00:00:00:00:01", "virtio,bridge=vmbr0,macaddr=02:00:00:00:00:01"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := ParseNIC(QEMU, c.text)
			if err != nil {
				t.Fatal(err)
			}
			changed, err := n.With(c.key, c.value)
			if err != nil {
				t.Fatal(err)
			}
			if changed.String() != c.want {
				t.Errorf("became %s\nwant %s", changed, c.want)
			}
			if n.String() != c.text {
				t.Errorf("the NIC before became %s", n)
			}
		})
	}
	n, err := ParseNIC(QEMU, "virtio=BC:24:11:00:00:02,bridge=vmbr0,tag=30,queues=4")
	if err != nil {
		t.Fatal(err)
	}
	without, err := n.Without("tag")
	if want := "virtio=BC:24:11:00:00:02,bridge=vmbr0,queues=4"; err != nil || without.String() != want || without.Tag != 0 {
		t.Errorf("without its tag: %s, %v, want %s", without, err, want)
	}
	if _, err := n.With("bridge", "vmbr0,firewall=0"); err == nil {
		t.Error("a comma in a value was taken")
	}
}

func FuzzParseNIC(f *testing.F) {
	f.Add("virtio=BC:24:11:00:00:02,bridge=vmbr0,tag=1691,trunks=1;2-3", "30")
	f.Add("name=eth0,bridge=vmbr0,ip=203.0.113.20/25", "x")
	f.Add(",model=e1000,,macaddr=bc:24:11:00:00:02,", "1;2")
	f.Fuzz(func(t *testing.T, text, value string) {
		for _, kind := range []GuestKind{QEMU, LXC} {
			n, err := ParseNIC(kind, text)
			if err != nil {
				continue
			}
			if n.String() != text {
				t.Fatalf("%q became %q", text, n)
			}
			for _, key := range []string{"bridge", "model", "macaddr", "tag"} {
				changed, err := n.With(key, value)
				if err != nil {
					continue
				}
				again, err := ParseNIC(kind, changed.String())
				if err != nil || !again.Equal(changed) {
					t.Fatalf("%q with %s=%q became %q, which reads as %q, %v", text, key, value, changed, again, err)
				}
			}
		}
	})
}
