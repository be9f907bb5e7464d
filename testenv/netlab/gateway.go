//go:build linux

package netlab

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// ARPManner is how the external gateway answers ARP requests for its address.
type ARPManner int

const (
	// AnswersAll is Linux's own manner.
	AnswersAll ARPManner = iota
	// IgnoresOffSubnet drops requests whose sender address is not of the
	// gateway's subnet, as some routers do, but answers RFC 5227 probes
	// (sender 0.0.0.0).
	IgnoresOffSubnet
	// DropsProbes drops RFC 5227 probes and answers every other request.
	DropsProbes
)

// Where fields lie from the network header on.
const (
	offsetIPSource      = 12
	offsetIPDestination = 16
	offsetARPSender     = 14
)

const gatewayTable = "gateway"

// SetGatewayARP changes how the external gateway answers ARP. Its own requests
// and what it has learned are untouched.
func (c *Cluster) SetGatewayARP(manner ARPManner) error {
	subnet := c.Addresses.External
	probe := netip.PrefixFrom(netip.IPv4Unspecified(), 32)
	return c.Router.nftables(func(conn *nftables.Conn) error {
		t := replaceTable(conn, nftables.TableFamilyARP, gatewayTable)
		in := hookChain(conn, t, "input", nftables.ChainTypeFilter, nftables.ChainHookRef(0), 0)
		switch manner {
		case AnswersAll:
		case IgnoresOffSubnet:
			// iifname "external" arp saddr ip != 203.0.113.0/24 arp saddr ip != 0.0.0.0 drop
			// Only there: the client behind the router is in another subnet too.
			addRule(conn, in,
				matchInterface(routerExternal),
				matchPrefix(offsetARPSender, expr.CmpOpNeq, subnet),
				matchPrefix(offsetARPSender, expr.CmpOpNeq, probe),
				verdict(expr.VerdictDrop))
		case DropsProbes:
			// arp saddr ip 0.0.0.0 drop
			addRule(conn, in, matchPrefix(offsetARPSender, expr.CmpOpEq, probe), verdict(expr.VerdictDrop))
		default:
			return fmt.Errorf("unknown ARP manner %d", manner)
		}
		return nil
	})
}

// SetGatewayMAC gives the external gateway another hardware address without
// telling anybody, as a fail-over to another router may.
func (c *Cluster) SetGatewayMAC(mac net.HardwareAddr) error {
	if c.vlan != 0 {
		// A VLAN link takes what its trunk takes for itself, and so the old address.
		if err := c.Router.SetMAC(routerTrunk, mac); err != nil {
			return err
		}
	}
	return c.Router.SetMAC(routerExternal, mac)
}

// SetGatewayDown takes the external gateway's link down, or up again.
func (c *Cluster) SetGatewayDown(down bool) error {
	if down {
		return c.Router.SetDown(routerExternal)
	}
	return c.Router.SetUp(routerExternal)
}

// SetPathMTU makes the way from the external router to the client behind it
// narrower, in bytes. The client does not know of it, so only ICMP errors tell
// the sender.
func (c *Cluster) SetPathMTU(mtu int) error {
	return c.Router.SetMTU(routerFar, mtu)
}

// filterSpoofed makes the private gateway drop, and count, packets whose source
// is not of the private network, as the routers of real private networks do.
func (c *Cluster) filterSpoofed() error {
	return c.PrivateGateway.nftables(func(conn *nftables.Conn) error {
		t := replaceTable(conn, nftables.TableFamilyIPv4, gatewayTable)
		in := hookChain(conn, t, "prerouting", nftables.ChainTypeFilter, nftables.ChainHookPrerouting, 0)
		// meta pkttype host ip saddr != 10.90.0.0/24 counter drop
		addRule(conn, in,
			[]expr.Any{
				&expr.Meta{Key: expr.MetaKeyPKTTYPE, Register: 1},
				&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.PACKET_HOST}},
			},
			matchPrefix(offsetIPSource, expr.CmpOpNeq, c.Addresses.Private),
			[]expr.Any{&expr.Counter{}},
			verdict(expr.VerdictDrop))
		return nil
	})
}

// Spoofed gives how many packets the private gateway has dropped because their
// source is not of the private network: replies that left by the wrong NIC.
func (c *Cluster) Spoofed() (uint64, error) {
	var packets uint64
	err := c.PrivateGateway.nftables(func(conn *nftables.Conn) error {
		t := &nftables.Table{Family: nftables.TableFamilyIPv4, Name: gatewayTable}
		rules, err := conn.GetRules(t, &nftables.Chain{Table: t, Name: "prerouting"})
		if err != nil {
			return err
		}
		for _, r := range rules {
			for _, e := range r.Exprs {
				if counter, ok := e.(*expr.Counter); ok {
					packets = counter.Packets
					return nil
				}
			}
		}
		return fmt.Errorf("the gateway's counter is gone: %d rules", len(rules))
	})
	return packets, err
}
