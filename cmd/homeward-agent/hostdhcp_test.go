//go:build linux

package main

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// dhcpServer starts a real dnsmasq on the segment.
func (s *site) dhcpServer(pool string) {
	s.t.Helper()
	path, err := dnsmasq()
	if err != nil && os.Getenv("CI") == "true" {
		s.t.Fatal(err)
	}
	if err != nil {
		s.t.Skipf("no DHCP server to ask: %v (Debian: apt-get install dnsmasq-base)", err)
	}
	server := s.join("dhcp", nil, netip.MustParseAddr("203.0.113.2"))
	var log syncBuffer
	cmd := server.Command(context.Background(), path, "--keep-in-foreground", "--log-facility=-", "--conf-file=/dev/null", "--port=0",
		"--user=root", "--group=root", "--pid-file=", "--leasefile-ro", "--interface=ext", "--bind-interfaces", "--no-ping", "--dhcp-range="+pool+",1h", "--log-dhcp")
	cmd.Stdout, cmd.Stderr = &log, &log
	s.do(cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		text := log.String()
		if s.t.Failed() {
			s.t.Logf("dnsmasq says:\n%s", text)
		}
		if strings.Contains(text, "DHCPREQUEST") {
			s.t.Error("an address was requested: only offers may be asked for")
		}
	})
	for end := time.Now().Add(patience); !strings.Contains(log.String(), "DHCP, IP range"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatal("dnsmasq is not up")
		}
	}
}

// dnsmasq finds the program, also where only root has it in PATH.
func dnsmasq() (string, error) {
	path, err := exec.LookPath("dnsmasq")
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/dnsmasq")
	}
	return path, err
}

func TestHostDHCPCheck(t *testing.T) {
	for _, c := range []struct {
		name, pool string
		code       int
		want       []string
	}{
		{"a range with the pool in it", "203.0.113.70,203.0.113.100", exitFailed, []string{
			"203.0.113.2  203.0.113.75  203.0.113.75", "203.0.113.2  203.0.113.79  203.0.113.79", "WRONG: that is ingress", "WRONG: that is kubeapi",
		}},
		{"a range beside the pool", "203.0.113.80,203.0.113.100", exitDone, []string{"no address of the plan"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.dhcpServer(c.pool)
			code, out, log := s.once("--dhcp-check")
			if code != c.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, c.code, out, log)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			if c.code == exitDone && strings.Contains(out, "WRONG") {
				t.Errorf("a wrong one:\n%s", out)
			}
		})
	}
	t.Run("no server", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		if code, out, log := s.once("--dhcp-check"); code != exitDone || !strings.Contains(out, "no DHCP server offered anything") {
			t.Errorf("exit code %d\n%s%s", code, out, log)
		}
	})
}
