//go:build linux

package netlab_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/netlab"
)

// pair is two hosts with a cable between them.
type pair struct{ left, right *netlab.Host }

func newPair(t *testing.T) pair {
	t.Helper()
	netlab.Require(t)
	p := pair{left: newHost(t, "left"), right: newHost(t, "right")}
	must(t, netlab.Connect(p.left, "eth0", p.right, "eth1"))
	must(t, p.left.AddAddress("eth0", netip.MustParsePrefix("192.0.2.1/24")))
	must(t, p.right.AddAddress("eth1", netip.MustParsePrefix("192.0.2.2/24")))
	return p
}

func newHost(t *testing.T, name string) *netlab.Host {
	t.Helper()
	h, err := netlab.NewHost(name)
	must(t, err)
	t.Cleanup(func() { must(t, h.Close()) })
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func shortly(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestHostsAreApart(t *testing.T) {
	p := newPair(t)
	must(t, p.left.SetSysctl("net/ipv4/ip_forward", "1"))
	got := map[string]string{}
	for _, h := range []*netlab.Host{p.left, p.right} {
		value, err := h.Sysctl("net/ipv4/ip_forward")
		must(t, err)
		got[h.Name()] = value
	}
	if diff := cmp.Diff(map[string]string{"left": "1", "right": "0"}, got); diff != "" {
		t.Errorf("ip_forward (-want +got):\n%s", diff)
	}
	own, err := os.ReadFile("/proc/sys/net/ipv4/ip_forward")
	must(t, err)
	if string(own) != "0\n" {
		t.Errorf("a host's sysctl changed the lab's own to %q", own)
	}
}

func TestCommandRunsInside(t *testing.T) {
	p := newPair(t)
	out, err := p.right.Command(shortly(t), "sh", "-c", "cd /sys/class/net && echo */").Output()
	must(t, err)
	if diff := cmp.Diff([]string{"eth1/", "lo/"}, strings.Fields(string(out))); diff != "" {
		t.Errorf("links that the program sees (-want +got):\n%s", diff)
	}
	if _, err := p.right.Command(shortly(t), "no-such-program").Output(); err == nil {
		t.Error("a program that does not exist ran")
	}
	_, err = p.right.Command(shortly(t), "sh", "-c", "echo why >&2; exit 3").Output()
	if err == nil || !strings.Contains(err.Error(), "why") {
		t.Errorf("error %v does not quote what the program said", err)
	}
}

func TestCaptureSeesBothWays(t *testing.T) {
	p := newPair(t)
	capture, err := p.left.Capture(shortly(t), "eth0")
	must(t, err)
	listener, err := p.right.Listen("tcp4", "192.0.2.2:80")
	must(t, err)
	go func() {
		if c, err := listener.Accept(); err == nil {
			_, _ = io.WriteString(c, "hello")
			_ = c.Close()
		}
	}()
	c, err := p.left.Dial(shortly(t), "tcp4", "192.0.2.2:80")
	must(t, err)
	text, err := io.ReadAll(c)
	must(t, err)
	must(t, errors.Join(c.Close(), listener.Close()))
	if string(text) != "hello" {
		t.Errorf("read %q", text)
	}
	packets, err := capture.Stop(shortly(t))
	must(t, err)
	seen := map[string]bool{}
	for _, packet := range packets {
		if packet.SYN {
			seen[fmt.Sprintf("leaving=%v ack=%v %s > %s", packet.Leaving, packet.ACK, packet.Source, packet.Destination)] = true
		}
	}
	want := map[string]bool{
		"leaving=true ack=false 192.0.2.1 > 192.0.2.2": true,
		"leaving=false ack=true 192.0.2.2 > 192.0.2.1": true,
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("packets with SYN (-want +got):\n%s\n%v", diff, packets)
	}
}

func TestCaptureIsNeverSilentlyBlind(t *testing.T) {
	t.Run("link that does not exist", func(t *testing.T) {
		p := newPair(t)
		if _, err := p.left.Capture(shortly(t), "eth9"); err == nil {
			t.Error("capture on a missing link began")
		}
	})
	t.Run("link that is down", func(t *testing.T) {
		p := newPair(t)
		must(t, p.left.SetDown("eth0"))
		if _, err := p.left.Capture(shortly(t), "eth0"); err == nil {
			t.Error("capture on a link that is down began")
		}
	})
	t.Run("link that goes away", func(t *testing.T) {
		p := newPair(t)
		capture, err := p.left.Capture(shortly(t), "eth0")
		must(t, err)
		must(t, p.left.Delete("eth0"))
		if _, err := capture.Stop(shortly(t)); !errors.Is(err, netlab.ErrCaptureIncomplete) {
			t.Errorf("stopping gave %v, want ErrCaptureIncomplete", err)
		}
	})
	t.Run("packet that never comes", func(t *testing.T) {
		p := newPair(t)
		capture, err := p.left.Capture(shortly(t), "eth0")
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		never := func(p netlab.Packet) bool { return p.RST }
		if _, err := capture.Wait(ctx, never); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting gave %v, want the deadline", err)
		}
		_, err = capture.Stop(shortly(t))
		must(t, err)
	})
}

func TestDoReportsATestThatEndedInside(t *testing.T) {
	netlab.Require(t)
	h := newHost(t, "alone")
	ended := make(chan error, 1)
	go func() { ended <- h.Do(func() error { runtime.Goexit(); return nil }) }()
	if err := <-ended; err == nil {
		t.Error("a function that ended its goroutine counts as done")
	}
}
