package returnpath

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"homeward/netplan"
)

const (
	// gatewayRefresh is how often the gateway is asked. A neighbour entry that is
	// entered as reachable lasts 26 s when nobody confirms it.
	gatewayRefresh = 10 * time.Second
	// gatewayRetry is how often while it does not answer.
	gatewayRetry = time.Second
)

// GatewayStatus is what is known of the external gateway.
type GatewayStatus struct {
	// Known is false until it was asked once; then nothing else is set.
	Known bool `json:"known"`
	// Reachable says that it answered the last request on the wire.
	Reachable bool `json:"reachable"`
	// ProbeOnly says that it answers a probe (sender 0.0.0.0) but no request of the
	// link's own address: the agent keeps its neighbour entry alive, and replies
	// are lost when no agent runs for more than about 20 s.
	ProbeOnly bool        `json:"probe_only"`
	MAC       netplan.MAC `json:"mac,omitzero"`
	// Error says why it could not be asked or entered, else empty.
	Error string `json:"error,omitempty"`
}

// problems gives what to tell of a gateway; nothing while there is no link.
func (g GatewayStatus) problems(uplink *netplan.Link) []Problem {
	if !g.Known || uplink == nil {
		return nil
	}
	var out []Problem
	if !g.Reachable {
		out = append(out, Problem{
			Kind: ProblemGateway, Blocking: true,
			Text:   "the external gateway answers no ARP request",
			Remedy: "look at the bridge and the VLAN of the external NIC, and at Proxmox's ipfilter: it must allow the anchor address",
		})
	}
	if g.ProbeOnly {
		out = append(out, Problem{
			Kind: ProblemGateway,
			Text: "the external gateway ignores ARP from the anchor address; this agent keeps its neighbour entry alive, and an absence of more than 20 s loses replies",
		})
	}
	if g.Error != "" {
		out = append(out, Problem{Kind: ProblemGateway, Text: "looking for the external gateway: " + g.Error})
	}
	return out
}

// answers is who answered for the gateway's address.
type answers struct {
	probe, plain netplan.MAC
}

func (a answers) mac() netplan.MAC {
	if !a.plain.IsZero() {
		return a.plain
	}
	return a.probe
}

// mustConfirm decides whether to enter the gateway in the kernel's neighbour
// table. A gateway that answers plain requests is the kernel's own business, as
// long as the kernel has not an outdated address of it: then waiting for the
// kernel to notice would cost up to a minute. One that answers only probes
// depends on us. What someone pinned by hand is left alone, and so is everything
// when nobody answered: the kernel's entry may still be right.
func (a answers) mustConfirm(n netplan.Neighbour) bool {
	switch {
	case a.mac().IsZero() || n.Permanent:
		return false
	case a.plain.IsZero():
		return true
	}
	return n.Valid && n.MAC != a.mac()
}

// watchGateway asks for the gateway until the context ends. It has a loop of its
// own because an answer may take a second, and repairs must not wait for it.
func (a *Agent) watchGateway(ctx context.Context) {
	for ctx.Err() == nil {
		wait := gatewayRefresh
		if status := a.Status(); status.Uplink == nil || status.Uplink.Up {
			g := a.AskGateway(ctx)
			if g.Known && !g.Reachable {
				wait = gatewayRetry
			}
		}
		select {
		case <-ctx.Done():
		case <-a.uplinkMoved:
		case <-a.cfg.Clock.After(wait):
		}
	}
}

// AskGateway asks on the wire for the gateway once, keeps the kernel's neighbour
// entry right, and gives what is then known. It needs a pass before it.
func (a *Agent) AskGateway(ctx context.Context) GatewayStatus {
	status := a.Status()
	if status.Uplink == nil {
		// What was known of it says nothing any more.
		a.publishGateway(GatewayStatus{})
		return GatewayStatus{}
	}
	link, gateway := *status.Uplink, a.cfg.Settings.Gateway
	got, err := a.ask(ctx, link, gateway)
	g := GatewayStatus{
		Known: true, MAC: got.mac(), Reachable: !got.mac().IsZero(),
		ProbeOnly: got.plain.IsZero() && !got.probe.IsZero(),
	}
	n, listErr := a.cfg.Kernel.Neighbour(ctx, link, gateway)
	switch {
	case listErr != nil:
		err = errors.Join(err, listErr)
	case err != nil && !g.Reachable:
		// It could not be asked (no NET_RAW): believe the kernel.
		g.Reachable, g.MAC = n.Valid, n.MAC
	case n.Permanent && g.Reachable && n.MAC != g.MAC:
		err = errors.Join(err, fmt.Errorf("its neighbour entry is pinned to %s, but it answers from %s", n.MAC, g.MAC))
	case got.mustConfirm(n) && !a.gaveWay():
		err = errors.Join(err, a.cfg.Kernel.ConfirmNeighbour(ctx, link, gateway, g.MAC))
	}
	if err != nil {
		g.Error = oneLine(err)
	}
	if ctx.Err() == nil {
		a.publishGateway(g)
	}
	return g
}

// ask sends the plain request that the kernel would send, and a probe when that
// is not answered.
func (a *Agent) ask(ctx context.Context, link netplan.Link, gateway netip.Addr) (answers, error) {
	var got answers
	sender, err := a.sender(ctx, link)
	if sender.IsValid() {
		mac, askErr := a.cfg.Prober.Ask(ctx, link, sender, gateway)
		got.plain, err = mac, errors.Join(err, askErr)
	}
	if got.plain.IsZero() {
		mac, askErr := a.cfg.Prober.Ask(ctx, link, netip.IPv4Unspecified(), gateway)
		got.probe, err = mac, errors.Join(err, askErr)
	}
	return got, err
}

// sender is the address that the kernel would give as its own: one in the
// external network if there is any, else the first, which is the anchor.
func (a *Agent) sender(ctx context.Context, link netplan.Link) (netip.Addr, error) {
	addrs, err := a.cfg.Kernel.Addresses(ctx, link)
	if err != nil || len(addrs) == 0 {
		return netip.Addr{}, err
	}
	for _, addr := range addrs {
		if a.cfg.Settings.CIDR.Contains(addr) {
			return addr, nil
		}
	}
	return addrs[0], nil
}

// gaveWay says that a later agent with other settings owns this node.
func (a *Agent) gaveWay() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status.has(ProblemSuperseded)
}

func (a *Agent) publishGateway(g GatewayStatus) {
	a.mu.Lock()
	old := a.status.Gateway
	a.status.Gateway = g
	a.mu.Unlock()
	if old != g {
		a.cfg.Log.Info("external gateway", "reachable", g.Reachable, "mac", g.MAC, "probe_only", g.ProbeOnly, "error", g.Error)
	}
}
