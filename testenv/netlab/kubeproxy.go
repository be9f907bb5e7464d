//go:build linux

package netlab

import (
	"fmt"
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// Policy is a Service's externalTrafficPolicy.
type Policy string

// The policies. With Local a node serves only its own backends and the backend
// sees the client's address; with Cluster any node serves any backend and the
// client's address is masqueraded on the way to another node.
const (
	PolicyCluster Policy = "Cluster"
	PolicyLocal   Policy = "Local"
)

// Service is one port of a LoadBalancer Service with one backend, TCP and UDP.
type Service struct {
	// Address is of the pool.
	Address netip.Addr
	Port    uint16
	Policy  Policy
	// Node is the index of the backend's node, HostNetwork whether the backend
	// is a process in the node's own network and not a pod.
	Node        int
	HostNetwork bool
}

const (
	proxyTable = "kube-proxy"
	// masqueradeMark is kube-proxy's.
	masqueradeMark = 0x4000
	// Hook priorities as kube-proxy's nftables mode has them.
	priorityDestinationNAT = -100
	priorityBeforeNAT      = -110
	prioritySourceNAT      = 100
)

// proxyRules puts the stand-in for kube-proxy on a node, in the manner of its
// nftables mode, into a transaction:
//
//	table ip kube-proxy {
//		chain filter-prerouting { type filter hook prerouting priority -110; <no local backend: drop> }
//		chain filter-forward { type filter hook forward priority -110; ct state invalid drop }
//		chain nat-prerouting { type nat hook prerouting priority -100; jump services }
//		chain nat-output { type nat hook output priority -100; jump services }
//		chain nat-postrouting {
//			type nat hook postrouting priority 100
//			meta mark and 0x4000 == 0 return
//			meta mark set mark xor 0x4000
//			masquerade fully-random
//		}
//		chain services { <per service: mark for masquerading, dnat> }
//	}
func (n *Node) proxyRules(conn *nftables.Conn, services []Service) {
	t := replaceTable(conn, nftables.TableFamilyIPv4, proxyTable)
	chain := conn.AddChain(&nftables.Chain{Name: "services", Table: t})
	early := hookChain(conn, t, "filter-prerouting", nftables.ChainTypeFilter, nftables.ChainHookPrerouting, priorityBeforeNAT)
	forward := hookChain(conn, t, "filter-forward", nftables.ChainTypeFilter, nftables.ChainHookForward, priorityBeforeNAT)
	in := hookChain(conn, t, "nat-prerouting", nftables.ChainTypeNAT, nftables.ChainHookPrerouting, priorityDestinationNAT)
	out := hookChain(conn, t, "nat-output", nftables.ChainTypeNAT, nftables.ChainHookOutput, priorityDestinationNAT)
	post := hookChain(conn, t, "nat-postrouting", nftables.ChainTypeNAT, nftables.ChainHookPostrouting, prioritySourceNAT)
	dropInvalid(conn, forward)
	addRule(conn, in, jump(chain.Name))
	addRule(conn, out, jump(chain.Name))
	masquerade(conn, post)
	for _, s := range services {
		for _, protocol := range []Protocol{TCP, UDP} {
			n.serve(conn, early, chain, s, protocol)
		}
	}
}

// dropInvalid keeps a packet whose connection is over from leaving with the
// backend's address.
func dropInvalid(conn *nftables.Conn, forward *nftables.Chain) {
	// ct state invalid drop
	addRule(conn, forward, []expr.Any{
		&expr.Ct{Key: expr.CtKeySTATE, Register: 1},
		&expr.Bitwise{
			SourceRegister: 1, DestRegister: 1, Len: 4,
			Mask: binaryutil.NativeEndian.PutUint32(expr.CtStateBitINVALID), Xor: make([]byte, 4),
		},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: make([]byte, 4)},
	}, verdict(expr.VerdictDrop))
}

func masquerade(conn *nftables.Conn, post *nftables.Chain) {
	// meta mark and 0x4000 == 0 return
	addRule(conn, post, []expr.Any{
		&expr.Meta{Key: expr.MetaKeyMARK, Register: 1},
		&expr.Bitwise{
			SourceRegister: 1, DestRegister: 1, Len: 4,
			Mask: binaryutil.NativeEndian.PutUint32(masqueradeMark), Xor: make([]byte, 4),
		},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: make([]byte, 4)},
	}, verdict(expr.VerdictReturn))
	// meta mark set mark xor 0x4000
	addRule(conn, post, markBits(0xffffffff, masqueradeMark))
	// masquerade fully-random
	addRule(conn, post, []expr.Any{&expr.Masq{FullyRandom: true}})
}

// serve adds one service port to the chains.
func (n *Node) serve(conn *nftables.Conn, early, services *nftables.Chain, s Service, protocol Protocol) {
	match := append(matchAddress(offsetIPDestination, s.Address), matchPort(protocol, s.Port)...)
	if s.Policy == PolicyLocal && s.Node != n.index {
		// ip daddr 203.0.113.75 tcp dport 8000 drop
		addRule(conn, early, match, verdict(expr.VerdictDrop))
		return
	}
	if s.Policy == PolicyCluster {
		// ip daddr 203.0.113.75 tcp dport 8000 meta mark set mark or 0x4000
		addRule(conn, services, match, markBits(^uint32(masqueradeMark), masqueradeMark))
	}
	backend := n.cluster.backend(s)
	// ip daddr 203.0.113.75 tcp dport 8000 dnat to 10.244.1.10:8080
	addRule(conn, services, match, []expr.Any{
		&expr.Immediate{Register: 1, Data: backend.Addr().AsSlice()},
		&expr.Immediate{Register: 2, Data: binaryutil.BigEndian.PutUint16(backend.Port())},
		&expr.NAT{Type: expr.NATTypeDestNAT, Family: unix.NFPROTO_IPV4, RegAddrMin: 1, RegProtoMin: 2},
	})
}

// Serve makes every node forward these services, and no others.
func (c *Cluster) Serve(services ...Service) error {
	for _, s := range services {
		if s.Node < 0 || s.Node >= len(c.Nodes) {
			return fmt.Errorf("service %s:%d: no node %d", s.Address, s.Port, s.Node)
		}
	}
	c.services = services
	for _, n := range c.Nodes {
		if err := n.nftables(func(conn *nftables.Conn) error {
			n.proxyRules(conn, services)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// backend gives where a service's packets go.
func (c *Cluster) backend(s Service) netip.AddrPort {
	n := c.Nodes[s.Node]
	if s.HostNetwork {
		return netip.AddrPortFrom(n.PrivateAddress, hostBackendPort)
	}
	return netip.AddrPortFrom(n.PodAddress, podBackendPort)
}
