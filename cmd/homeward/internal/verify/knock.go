package verify

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"homeward/agent/probe"
)

// Knock is what came of TCP handshakes with one address and port of a service.
type Knock struct {
	Service ServiceKey
	// Address is the service's. Target is where clients reach it: on OpenStack that is
	// the floating IP.
	Address netip.Addr
	Target  netip.AddrPort
	// Attempts were made; Answered of them were, and Unknown failed on this machine.
	Attempts, Answered, Unknown int64
	// Causes say why the others failed.
	Causes string
	// Refused says that all that failed were refused, so that somebody answers, and
	// NoWay that this machine has no route there.
	Refused, NoWay bool
	// OnLink: the target is on a segment of this machine.
	OnLink bool
}

// How often one target is asked. Three attempts tell a lost packet from a lost path.
const (
	knocksEach    = 3
	knockInterval = 250 * time.Millisecond
)

// knock shakes hands with every TCP port of every service that has an address, from
// here.
func knock(ctx context.Context, s *Snapshot) Read[[]Knock] {
	all := s.toKnock()
	for some := range slices.Chunk(all, probe.MaxTargets/2) {
		if err := knockSome(ctx, some); err != nil {
			return Read[[]Knock]{all, err}
		}
	}
	return Read[[]Knock]{Value: all}
}

// toKnock are the handshakes to be made.
func (s *Snapshot) toKnock() []Knock {
	var all []Knock
	for _, b := range s.balanced() {
		for _, a := range b.addresses {
			for _, p := range b.service.Spec.Ports {
				if (p.Protocol == corev1.ProtocolTCP || p.Protocol == "") && p.Port > 0 && p.Port <= 65535 {
					all = append(all, Knock{Service: b.key, Address: a, Target: netip.AddrPortFrom(outsideOf(s.Plan, a), uint16(p.Port))})
				}
			}
		}
	}
	return all
}

func knockSome(ctx context.Context, some []Knock) error {
	settings := probe.Settings{Mode: probe.ModeTCP, Interval: knockInterval, Timeout: probe.DefaultTimeout, Count: knocksEach}
	for i, k := range some {
		settings.Targets = append(settings.Targets, probe.Target{
			Name: fmt.Sprintf("%d %s", i, k.Target), Host: k.Target.Addr().String(), Address: k.Target,
		})
	}
	prober, err := probe.New(settings)
	if err != nil {
		return fmt.Errorf("connecting to services: %w", err)
	}
	prober.Run(ctx)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("connecting to services: %w", err)
	}
	near := prober.OnLink()
	for i, t := range prober.Summary().Targets {
		k := &some[i]
		k.Attempts, k.Answered, k.Unknown = t.Attempts, t.Answered, t.Unknown
		k.Causes = probe.CauseList(t.Causes)
		k.Refused = t.Failed > 0 && t.Causes[probe.CauseRefused] == t.Failed
		k.NoWay = t.Failed > 0 && t.Causes[probe.CauseNoRoute] == t.Failed
		k.OnLink = slices.Contains(near, t.Target)
	}
	return nil
}
