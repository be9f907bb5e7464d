//go:build linux

package neighbours

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"homeward/testenv/netlab"
)

//go:embed replay/*.sh
var replays embed.FS

// Resident is a neighbour on a node of a lab cluster. Close it.
type Resident struct {
	Neighbour
	cluster *netlab.Cluster
	node    *netlab.Node
	// tunnel is the far end of its own link, nil when it has none.
	tunnel *netlab.Host
	lock   string
}

// Programs are what the replays run.
func Programs() []string {
	return []string{"sh", "ip", "nft", "grep", "sed", "seq", "iptables-nft", "iptables-legacy"}
}

// Settle gives the neighbour its own link on the node, and installs nothing yet.
func (n Neighbour) Settle(ctx context.Context, c *netlab.Cluster, node *netlab.Node) (*Resident, error) {
	dir, err := os.MkdirTemp("", "neighbour")
	if err != nil {
		return nil, fmt.Errorf("settling %s: %w", n.Name, err)
	}
	r := &Resident{Neighbour: n, cluster: c, node: node, lock: filepath.Join(dir, "xtables.lock")}
	if n.Link == "" {
		return r, nil
	}
	if err := r.layTunnel(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("settling %s: %w", n.Name, err), r.Close())
	}
	return r, nil
}

// nearEnd is the node's own address on a neighbour's link.
var nearEnd = netip.MustParsePrefix("100.64.0.2/32")

// layTunnel makes a cable stand in for a tunnel: its near end asks for no address, and
// the far end knows the way back.
func (r *Resident) layTunnel(ctx context.Context) (err error) {
	const far = "tunnel"
	if r.tunnel, err = netlab.NewHost("far end of " + r.Link); err != nil {
		return err
	}
	if err := netlab.Connect(r.node.Host, r.Link, r.tunnel, far); err != nil {
		return err
	}
	near, err := r.node.Host.Link(r.Link)
	if err != nil {
		return err
	}
	if out, err := r.node.Command(ctx, "ip", "link", "set", "dev", r.Link, "arp", "off").CombinedOutput(); err != nil {
		return fmt.Errorf("making %s a tunnel: %w: %s", r.Link, err, out)
	}
	for _, step := range []func() error{
		func() error { return r.node.AddAddress(r.Link, nearEnd) },
		func() error { return r.tunnel.AddAddress(far, netip.PrefixFrom(tailnet, 32)) },
		func() error {
			return r.tunnel.AddRoute(netlab.Route{Destination: nearEnd, Link: far})
		},
		func() error { return r.tunnel.AddRoute(netlab.Route{Via: nearEnd.Addr(), Link: far}) },
		func() error { return r.tunnel.AddNeighbour(far, nearEnd.Addr(), net.HardwareAddr(near.HardwareAddr)) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Install installs it.
func (r *Resident) Install(ctx context.Context) error { return r.run(ctx, "install") }

// Restart restarts it, as it does by itself or at an upgrade.
func (r *Resident) Restart(ctx context.Context) error { return r.run(ctx, "restart") }

// CleanUp removes all that it installed.
func (r *Resident) CleanUp(ctx context.Context) error { return r.run(ctx, "cleanup") }

// Close takes its link away. What it installed stays.
func (r *Resident) Close() error {
	err := os.RemoveAll(filepath.Dir(r.lock))
	if r.tunnel != nil {
		err = errors.Join(err, r.node.Delete(r.Link), r.tunnel.Close())
	}
	return err
}

// run runs one function of its scripts on the node.
func (r *Resident) run(ctx context.Context, function string) error {
	var text strings.Builder
	for _, name := range append([]string{"prelude.sh"}, r.scripts...) {
		script, err := replays.ReadFile("replay/" + name)
		if err != nil {
			return fmt.Errorf("reading replay of %s: %w", r.Name, err)
		}
		text.Write(script)
	}
	text.WriteString(function + "\n")
	cmd := r.node.Command(ctx, "sh", "-c", text.String())
	cmd.Env = append(os.Environ(), r.environment()...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("replaying %s of %s: %w\n%s", function, r.Name, err, out)
	}
	return nil
}

func (r *Resident) environment() []string {
	a := r.cluster.Addresses
	return append([]string{
		"XTABLES_LOCKFILE=" + r.lock, "IPTABLES=" + r.iptables, "TUNNEL=" + r.Link,
		"PRIVATE=" + r.node.PrivateLink, "PODLINK=" + podLink,
		"PODS=" + netip.PrefixFrom(r.node.PodAddress, 24).Masked().String(), "CLUSTER=10.244.0.0/16",
		"NETWORK=" + a.Private.String(), "EXTERNALNET=" + a.External.String(),
	}, r.values...)
}
