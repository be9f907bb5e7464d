//go:build linux

package main

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"homeward/agent/returnpath"
)

// routerLink is the external router's NIC in the external network.
const routerLink = "external"

// advertise sends a router advertisement (RFC 4861, 4.2) into the external network:
// this router is a default router for half an hour.
func (b *bench) advertise() {
	b.t.Helper()
	message := []byte{134, 0, 0, 0, 64, 0, 1800 >> 8, 1800 & 0xff, 0, 0, 0, 0, 0, 0, 0, 0}
	b.do(b.Router.Do(func() error {
		nic, err := net.InterfaceByName(routerLink)
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMPV6)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		// Receivers drop one that may have passed a router.
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS, 255); err != nil {
			return err
		}
		to := &unix.SockaddrInet6{Addr: [16]byte{0xff, 2, 15: 1}, ZoneId: uint32(nic.Index)}
		if err := unix.Sendto(fd, message, 0, to); err != nil && err != unix.EADDRNOTAVAIL {
			return err // its own address may still be under test
		}
		return nil
	}))
}

// TestRouterAdvertisementOnTheExternalNIC: the NIC listens to it, as it does where
// nobody has told it not to. The agent hears of the route by its event; the resync
// is an hour away.
func TestRouterAdvertisementOnTheExternalNIC(t *testing.T) {
	b := newBench(t)
	p := b.start("--resync=1h")
	has := func(s returnpath.Status) bool { return slices.Contains(kinds(s), returnpath.ProblemIPv6Default) }
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		b.advertise()
		s, err := p.state()
		if err == nil && has(s) {
			i := slices.Index(kinds(s), returnpath.ProblemIPv6Default)
			if !s.Ready || s.Problems[i].Blocking || !strings.Contains(s.Problems[i].Remedy, b.node.ExternalLink+".accept_ra=0") {
				t.Errorf("ready %v, problem %+v", s.Ready, s.Problems[i])
			}
			break
		}
		if time.Now().After(end) {
			t.Fatalf("never reported: %+v, error %v", s.Problems, err)
		}
	}
	_, metrics, err := p.get("/metrics")
	if err != nil || !strings.Contains(metrics, `homeward_problem{blocking="false",kind="ipv6_default"} 1`) {
		t.Errorf("metrics, error %v:\n%s", err, metrics)
	}
	text, err := b.command("status").Output()
	if err != nil || !strings.Contains(string(text), "note (ipv6_default)") {
		t.Errorf("status: %v\n%s", err, text)
	}
	b.do(b.node.SetSysctl("net/ipv6/conf/"+b.node.ExternalLink+"/accept_ra", "0"))
	if out, err := b.node.Command(t.Context(), "ip", "-6", "route", "del", "default", "dev", b.node.ExternalLink).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.await("well again", func(s returnpath.Status) bool { return s.Ready && !has(s) })
	b.allHome()
}
