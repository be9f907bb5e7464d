//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"homeward/agent/segment"
	"homeward/netplan"
)

const (
	floodTime = 10 * time.Second
	floodRate = 100_000 // frames a second
)

// flooded floods the segment and reads what became of the agent.
func (s *segmentStage) flooded(ctx context.Context, events <-chan segment.Event, pid int) error {
	flooder, err := s.join("flooder")
	if err != nil {
		return err
	}
	frames := invented(1 << 16)
	before, err := s.agentNow(pid)
	if err != nil {
		return err
	}
	storm, calm := context.WithTimeout(ctx, floodTime)
	defer calm()
	sent, err := flooder.Flood(storm, "ext", floodRate, frames)
	if err != nil {
		return err
	}
	after, err := s.agentNow(pid)
	if err != nil {
		return err
	}
	if _, err := await(events, segment.Overloaded, netip.Addr{}); err != nil {
		return err
	}
	recovered, err := await(events, segment.Recovered, netip.Addr{})
	if err != nil {
		return err
	}
	seconds := floodTime.Seconds()
	fmt.Printf("under %.0f ARP frames a second: %.0f a second read, and at most %d of them judged; it said that it was overloaded, and after the flood that %d frames were not judged\n",
		float64(sent)/seconds, (after.frames-before.frames)/seconds, segment.DefaultLimit, recovered.Count)
	fmt.Printf("its resident memory: %.1f MiB before, %.1f MiB after; its CPU during the flood: %.0f %% of a processor\n",
		before.resident/1024, after.resident/1024, 100*(after.cpu-before.cpu).Seconds()/seconds)
	return nil
}

// agentState is what the agent has read, holds in KiB, and has used.
type agentState struct {
	frames, resident float64
	cpu              time.Duration
}

func (s *segmentStage) agentNow(pid int) (a agentState, err error) {
	if a.frames, err = s.metric("homeward_segment_arp_frames_total"); err != nil {
		return a, err
	}
	if a.resident, err = resident(pid); err != nil {
		return a, err
	}
	a.cpu, err = cpuTime(pid)
	return a, err
}

// invented gives answers of hosts that nobody has, for the segment's addresses. Their
// Ethernet source is one, so that the lab's switch does not learn 100,000 a second.
func invented(n int) [][]byte {
	all := netplan.MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	frames := make([][]byte, n)
	for i := range frames {
		frames[i] = segment.ARP{
			Source: netplan.MAC{2, 0, 0, 0, 0, 7}, Destination: all, Operation: segment.Reply,
			SenderMAC: netplan.MAC{2, byte(i >> 16), byte(i >> 8), byte(i), 0, 7},
			Sender:    netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}), TargetMAC: all, Target: netip.MustParseAddr(segmentGateway),
		}.Append(nil)
	}
	return frames
}

// metric reads one number of the agent's.
func (s *segmentStage) metric(name string) (float64, error) {
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return s.host.Dial(ctx, network, address)
		}}}
	r, err := client.Get("http://" + hostListen + "/metrics")
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("no metric %s", name)
}
