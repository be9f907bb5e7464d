//go:build linux

package segment_test

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"testing"

	"homeward/agent/kernel"
	"homeward/agent/segment"
	"homeward/netplan"
	"homeward/testenv/netlab"
)

func TestMain(m *testing.M) { netlab.Main(m) }

var (
	gateway = netip.MustParseAddr("203.0.113.1")
	squat   = netip.MustParseAddr("203.0.113.75")
	nobody  = netip.MustParseAddr("203.0.113.76")
)

// lab is one segment: a switch, and hosts at it. The watcher has no address.
type lab struct {
	t               *testing.T
	switches, watch *netlab.Host
}

func newLab(t *testing.T) *lab {
	t.Helper()
	netlab.Require(t)
	l := &lab{t: t}
	l.switches = l.host("switch")
	l.must(l.switches.AddBridge("br0"))
	l.watch = l.join("watcher")
	return l
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) host(name string) *netlab.Host {
	l.t.Helper()
	h, err := netlab.NewHost(name)
	l.must(err)
	l.t.Cleanup(func() { l.must(h.Close()) })
	return h
}

// join makes a host with its NIC "ext" at the switch, and those addresses.
func (l *lab) join(name string, addresses ...netip.Addr) *netlab.Host {
	l.t.Helper()
	h := l.host(name)
	l.must(netlab.Connect(h, "ext", l.switches, name))
	l.must(l.switches.Enslave(name, "br0"))
	for _, a := range addresses {
		l.must(h.AddAddress("ext", netip.PrefixFrom(a, 24)))
	}
	return h
}

func (l *lab) mac(h *netlab.Host) netplan.MAC {
	l.t.Helper()
	attrs, err := h.Link("ext")
	l.must(err)
	return netplan.MAC(attrs.HardwareAddr)
}

// wire opens the watcher's NIC.
func (l *lab) wire() *kernel.Wire {
	l.t.Helper()
	var w *kernel.Wire
	l.must(l.watch.Do(func() (err error) {
		w, err = kernel.New(slog.New(slog.NewTextHandler(io.Discard, nil))).OpenWire(l.t.Context(), "ext")
		return err
	}))
	l.t.Cleanup(func() { l.must(w.Close()) })
	return w
}

func (l *lab) probe(q segment.Question) segment.Report {
	l.t.Helper()
	r, err := segment.Probe(l.t.Context(), l.wire(), q)
	l.must(err)
	return r
}

func (l *lab) state(r segment.Report, a netip.Addr, want segment.State, macs ...netplan.MAC) {
	l.t.Helper()
	got, ok := r.Of(a)
	if !ok || got.State != want || len(got.Holders) != len(macs) {
		l.t.Fatalf("%s: %+v, want %s by %v", a, got, want, macs)
	}
	for _, mac := range macs {
		found := false
		for _, h := range got.Holders {
			found = found || h.MAC == mac && h.Answered
		}
		if !found {
			l.t.Errorf("%s: held by %+v, not by %s", a, got.Holders, mac)
		}
	}
}

func TestProbe(t *testing.T) {
	all := []netip.Addr{squat, nobody}
	t.Run("a squatter, a free address, a gateway", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		router, squatter := l.join("router", gateway), l.join("squatter", squat)
		r := l.probe(segment.Question{Addresses: all, Witnesses: []netip.Addr{gateway}})
		l.state(r, gateway, segment.Taken, l.mac(router))
		l.state(r, squat, segment.Taken, l.mac(squatter))
		l.state(r, nobody, segment.Free)
		if !r.Proven || r.Witness != gateway || r.Doubt() != "" {
			t.Errorf("%+v, doubt %q", r, r.Doubt())
		}
	})
	t.Run("two that have one address", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		a, b := l.join("one", squat), l.join("two", squat)
		r := l.probe(segment.Question{Addresses: all})
		l.state(r, squat, segment.Taken, l.mac(a), l.mac(b))
		l.state(r, nobody, segment.Free)
	})
	t.Run("without the gateway nothing is free", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		squatter := l.join("squatter", squat)
		r := l.probe(segment.Question{Addresses: all, Witnesses: []netip.Addr{gateway}})
		l.state(r, squat, segment.Taken, l.mac(squatter))
		l.state(r, nobody, segment.Unknown)
		if r.Proven || r.Doubt() == "" {
			t.Errorf("%+v, doubt %q", r, r.Doubt())
		}
	})
	t.Run("this host's own address", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		l.join("router", gateway)
		l.must(l.watch.AddAddress("ext", netip.PrefixFrom(squat, 32)))
		r := l.probe(segment.Question{Addresses: all, Witnesses: []netip.Addr{gateway}})
		if got, _ := r.Of(squat); !got.Local || got.State != segment.Taken {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a guest whose filter drops its probes", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		l.join("router", gateway)
		l.join("squatter", squat)
		// As Proxmox's ipfilter does at the guest's port.
		out, err := l.switches.Command(t.Context(), "nft", "table netdev pve { chain in { type filter hook ingress device watcher priority 0; "+
			"arp saddr ip != 203.0.113.80 drop; }; }").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		r := l.probe(segment.Question{Addresses: all, Witnesses: []netip.Addr{gateway}})
		l.state(r, squat, segment.Unknown)
		l.state(r, nobody, segment.Unknown)
	})
}

func TestProbeStops(t *testing.T) {
	l := newLab(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := segment.Probe(ctx, l.wire(), segment.Question{Addresses: []netip.Addr{squat}}); err == nil {
		t.Error("it went on")
	}
}

func TestOpenWireRefuses(t *testing.T) {
	l := newLab(t)
	l.must(netlab.Connect(l.watch, "cut", l.switches, "cutport"))
	l.must(l.switches.SetDown("cutport"))
	l.must(netlab.Connect(l.watch, "off", l.switches, "offport"))
	l.must(l.watch.SetDown("off"))
	for _, name := range []string{"lo", "cut", "off", "none"} {
		l.must(l.watch.Do(func() error {
			w, err := kernel.New(slog.New(slog.NewTextHandler(io.Discard, nil))).OpenWire(t.Context(), name)
			if err == nil {
				t.Errorf("%s was opened", name)
				return w.Close()
			}
			t.Log(err)
			return nil
		}))
	}
}

var _ segment.Wire = (*kernel.Wire)(nil)
