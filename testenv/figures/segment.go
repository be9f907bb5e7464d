//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"homeward/agent/segment"
	"homeward/testenv/netlab"
)

const (
	segmentNetwork = "203.0.113.0/24"
	segmentGateway = "203.0.113.1"
	hostListen     = "127.0.0.1:9466"
	// appearances is how often a stranger appears on the watched segment.
	appearances = 10
)

// segmentStage is a switch with a router, and a host that runs the agent and has no
// address.
type segmentStage struct {
	plugs, host *netlab.Host
	hosts       []*netlab.Host
}

func newSegmentStage() (s *segmentStage, err error) {
	s = &segmentStage{}
	if s.plugs, err = netlab.NewHost("switch"); err != nil {
		return nil, err
	}
	s.hosts = append(s.hosts, s.plugs)
	if err := s.plugs.AddBridge("br0"); err != nil {
		return s, err
	}
	if s.host, err = s.join("pve"); err != nil {
		return s, err
	}
	_, err = s.join("router", netip.MustParseAddr(segmentGateway))
	return s, err
}

func (s *segmentStage) join(name string, addresses ...netip.Addr) (*netlab.Host, error) {
	h, err := netlab.NewHost(name)
	if err != nil {
		return nil, err
	}
	s.hosts = append(s.hosts, h)
	err = errors.Join(netlab.Connect(h, "ext", s.plugs, name), s.plugs.Enslave(name, "br0"))
	for _, a := range addresses {
		err = errors.Join(err, h.AddAddress("ext", netip.PrefixFrom(a, 24)))
	}
	return h, err
}

func (s *segmentStage) Close() (err error) {
	for _, h := range slices.Backward(s.hosts) {
		err = errors.Join(err, h.Close())
	}
	return err
}

// segment measures the host's agent: a /24 probed, a stranger found, a flood.
func (b *bench) segment(ctx context.Context) (err error) {
	s, err := newSegmentStage()
	if s != nil {
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	if err != nil {
		return err
	}
	squatter, err := s.join("squatter", netip.MustParseAddr("203.0.113.200"))
	if err != nil {
		return err
	}
	flags := []string{"host", "--interface=ext", "--gateway=" + segmentGateway, "--addresses=" + segmentNetwork, "-o", "jsonl"}
	began := time.Now()
	out, err := s.host.Command(ctx, b.agent, append(flags, "--once")...).Output()
	if err != nil {
		return err
	}
	if !strings.Contains(string(out), `"address":"203.0.113.200","use":"asked","state":"taken"`) {
		return fmt.Errorf("the probe did not find the stranger:\n%s", out)
	}
	fmt.Printf("a /24 probed three times per address, and the stranger found: %v\n", round(time.Since(began)))
	return b.watched(ctx, s, squatter, append(flags, "--listen="+hostListen))
}

// watched measures a running agent.
func (b *bench) watched(ctx context.Context, s *segmentStage, squatter *netlab.Host, flags []string) (err error) {
	cmd := s.host.Command(ctx, b.agent, flags...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, cmd.Process.Signal(os.Interrupt), cmd.Wait())
	}()
	events := make(chan segment.Event, 4096)
	go func() {
		defer close(events)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var e segment.Event
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				events <- e
			}
		}
	}()
	if err := s.strangers(ctx, events, squatter); err != nil {
		return err
	}
	return s.flooded(ctx, events, cmd.Process.Pid)
}

// strangers measures from an address coming up, without any announcement, to the
// event that names it.
func (s *segmentStage) strangers(ctx context.Context, events <-chan segment.Event, squatter *netlab.Host) error {
	var times []time.Duration
	for i := range appearances {
		// Not in step with the watch, which asks for one address after the other.
		if err := pause(ctx, rand.N(3*time.Second)); err != nil {
			return err
		}
		a := netip.AddrFrom4([4]byte{203, 0, 113, byte(210 + i)})
		began := time.Now()
		if err := squatter.AddAddress("ext", netip.PrefixFrom(a, 24)); err != nil {
			return err
		}
		if _, err := await(events, segment.Stranger, a); err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	fmt.Printf("a stranger that announces nothing, on a watched /24: p50 %v, most %v (%d)\n",
		round(quantile(times, 50)), round(times[len(times)-1]), len(times))
	return nil
}

func await(events <-chan segment.Event, kind segment.Kind, a netip.Addr) (segment.Event, error) {
	for limit := time.After(time.Minute); ; {
		select {
		case e, ok := <-events:
			if !ok {
				return e, errors.New("the agent ended")
			}
			if e.Kind == kind && e.Address == a {
				return e, nil
			}
		case <-limit:
			return segment.Event{}, fmt.Errorf("no word of %s %s", kind, a)
		}
	}
}
