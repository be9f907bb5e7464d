//go:build linux

package kernel

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"homeward/netplan"
	"homeward/testenv/netlab"

	"github.com/google/go-cmp/cmp"
)

func TestLinks(t *testing.T) {
	inHost(t, func(k *Kernel, _ *netlab.Host) {
		run(t, "ip", "link", "set", "ext", "address", "02:00:00:00:00:aa", "alias", "external")
		run(t, "ip", "link", "add", "br0", "type", "bridge")
		run(t, "ip", "link", "add", "va", "type", "veth", "peer", "name", "vb")
		run(t, "ip", "link", "set", "va", "master", "br0")
		want := map[string]bool{"ext": false, "br0": false, "va": true, "vb": false}
		for name, stacked := range want {
			if l := link(t, k, name); l.Stacked != stacked || !l.PermanentMAC.IsZero() || l.MAC.IsZero() {
				t.Errorf("%+v, want stacked %v and no permanent MAC", l, stacked)
			}
		}
		ext := link(t, k, "ext")
		want2 := netplan.Link{Index: ext.Index, Name: "ext", Alias: "external", MAC: netplan.MAC{2, 0, 0, 0, 0, 0xaa}, Up: true}
		if diff := cmp.Diff(want2, ext); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestAddresses(t *testing.T) {
	inHost(t, func(k *Kernel, _ *netlab.Host) {
		ext := link(t, k, "ext")
		if got, err := k.Addresses(context.Background(), ext); err != nil || len(got) > 0 {
			t.Errorf("addresses %v, error %v", got, err)
		}
		run(t, "ip", "addr", "add", "169.254.33.7/32", "dev", "ext")
		run(t, "ip", "addr", "add", "203.0.113.80/32", "dev", "ext")
		got, err := k.Addresses(context.Background(), ext)
		if err != nil || len(got) != 2 || got[0] != netip.MustParseAddr("169.254.33.7") {
			t.Errorf("addresses %v, error %v", got, err)
		}
	})
}

func TestReversePathIsTheHigherValue(t *testing.T) {
	inHost(t, func(k *Kernel, _ *netlab.Host) {
		ctx := context.Background()
		ext := link(t, k, "ext")
		for all := range 3 {
			for own := range 3 {
				set := func(scope string, v int) {
					for key, value := range map[string]int{"rp_filter": v, "src_valid_mark": v % 2} {
						file := filepath.Join("/proc/sys/net/ipv4/conf", scope, key)
						if err := os.WriteFile(file, []byte(strconv.Itoa(value)), 0); err != nil {
							t.Fatal(err)
						}
					}
				}
				set("all", all)
				set("ext", own)
				got, err := k.ReversePath(ctx, ext)
				if want := (netplan.ReversePath{RPFilter: max(all, own), SrcValidMark: max(all%2, own%2)}); err != nil || got != want {
					t.Errorf("all %d, own %d: got %+v, error %v", all, own, got, err)
				}
			}
		}
		if _, err := k.ReversePath(ctx, netplan.Link{Name: "gone"}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a link that is gone: %v", err)
		}
		if _, err := k.ReversePath(ctx, netplan.Link{Name: "../../x"}); err == nil {
			t.Error("read outside of the links")
		}
	})
}

func TestNeighbours(t *testing.T) {
	inHost(t, func(k *Kernel, _ *netlab.Host) {
		ctx := context.Background()
		ext := link(t, k, "ext")
		gateway, mac := netip.MustParseAddr("203.0.113.1"), netplan.MAC{2, 0, 0, 0, 0, 9}
		if got, err := k.Neighbour(ctx, ext, gateway); err != nil || got.Valid {
			t.Errorf("before: %+v, error %v", got, err)
		}
		for range 2 {
			if err := k.ConfirmNeighbour(ctx, ext, gateway, mac); err != nil {
				t.Fatal(err)
			}
		}
		want := netplan.Neighbour{Link: ext.Index, Address: gateway, MAC: mac, Valid: true}
		if got, err := k.Neighbour(ctx, ext, gateway); err != nil || !cmp.Equal(want, got, compareNet) {
			t.Errorf("got %+v, error %v", got, err)
		}
		run(t, "ip", "neigh", "replace", "203.0.113.1", "lladdr", "02:00:00:00:00:08", "dev", "ext", "nud", "permanent")
		if got, err := k.Neighbour(ctx, ext, gateway); err != nil || !got.Permanent {
			t.Errorf("pinned: %+v, error %v", got, err)
		}
	})
}
