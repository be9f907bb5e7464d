//go:build linux

package netlab

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// nftables runs one transaction of nftables changes on the host. The library is
// used, and not the nft program, because the lab must run where there is none.
func (h *Host) nftables(change func(*nftables.Conn) error) error {
	conn, err := nftables.New(nftables.WithNetNSFd(h.FD()))
	if err != nil {
		return fmt.Errorf("opening nftables on %s: %w", h.name, err)
	}
	if err := change(conn); err != nil {
		return fmt.Errorf("changing nftables on %s: %w", h.name, err)
	}
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("committing nftables on %s: %w", h.name, err)
	}
	return nil
}

// The parts of a rule. Each is one expression of nft in the kernel's form.

// matchAddress is "ip saddr"/"ip daddr" at an offset of the network header.
func matchAddress(offset uint32, a netip.Addr) []expr.Any {
	return matchPrefix(offset, expr.CmpOpEq, netip.PrefixFrom(a, 32))
}

func matchPrefix(offset uint32, op expr.CmpOp, p netip.Prefix) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: 4},
		&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 4, Mask: ipNet(p).Mask, Xor: make([]byte, 4)},
		&expr.Cmp{Op: op, Register: 1, Data: p.Masked().Addr().AsSlice()},
	}
}

// matchPort is "tcp dport" or "udp dport", with the protocol before it.
func matchPort(p Protocol, port uint16) []expr.Any {
	number := byte(unix.IPPROTO_TCP)
	if p == UDP {
		number = unix.IPPROTO_UDP
	}
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{number}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(port)},
	}
}

// markBits is "meta mark set (mark and keep) xor flip".
func markBits(keep, flip uint32) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyMARK, Register: 1},
		&expr.Bitwise{
			SourceRegister: 1, DestRegister: 1, Len: 4,
			Mask: binaryutil.NativeEndian.PutUint32(keep), Xor: binaryutil.NativeEndian.PutUint32(flip),
		},
		&expr.Meta{Key: expr.MetaKeyMARK, SourceRegister: true, Register: 1},
	}
}

func verdict(kind expr.VerdictKind) []expr.Any { return []expr.Any{&expr.Verdict{Kind: kind}} }

func jump(chain string) []expr.Any {
	return []expr.Any{&expr.Verdict{Kind: expr.VerdictJump, Chain: chain}}
}

// replaceTable begins a table anew, whatever was in it, in the transaction.
func replaceTable(conn *nftables.Conn, family nftables.TableFamily, name string) *nftables.Table {
	table := &nftables.Table{Family: family, Name: name}
	conn.AddTable(table)
	conn.DelTable(table)
	return conn.AddTable(table)
}

// hookChain adds a base chain that accepts what it does not judge.
func hookChain(conn *nftables.Conn, t *nftables.Table, name string, kind nftables.ChainType, hook *nftables.ChainHook, priority int32) *nftables.Chain {
	accept := nftables.ChainPolicyAccept
	return conn.AddChain(&nftables.Chain{
		Name: name, Table: t, Type: kind, Hooknum: hook,
		Priority: nftables.ChainPriorityRef(nftables.ChainPriority(priority)), Policy: &accept,
	})
}

func addRule(conn *nftables.Conn, chain *nftables.Chain, parts ...[]expr.Any) {
	conn.AddRule(&nftables.Rule{Table: chain.Table, Chain: chain, Exprs: slices.Concat(parts...)})
}
