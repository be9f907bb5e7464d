//go:build linux

package kernel

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"homeward/netplan"
)

// A rule of ours is a sequence of fragments. Each fragment has one function that
// compiles it, and one that reads it back: that one guesses the parameters,
// compiles them again, and accepts only what comes out the same.

// reg is the register that every fragment uses, as nft does.
const reg = unix.NFT_REG_1

// The values of `ct direction`, one byte (IP_CT_DIR_ORIGINAL, IP_CT_DIR_REPLY).
const (
	directionOriginal = 0
	directionReply    = 1
)

// nft: iifname "NAME"
func iifname(name string) []expr.Any {
	padded := make([]byte, unix.IFNAMSIZ)
	copy(padded, name)
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: reg},
		&expr.Cmp{Op: expr.CmpOpEq, Register: reg, Data: padded},
	}
}

// nft: ip daddr @SET
// In a table of family inet nft puts `meta nfproto ipv4` before it.
func daddrIn(set string) []expr.Any {
	const daddrOffset, daddrLength = 16, 4
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: reg},
		&expr.Cmp{Op: expr.CmpOpEq, Register: reg, Data: []byte{unix.NFPROTO_IPV4}},
		&expr.Payload{DestRegister: reg, Base: expr.PayloadBaseNetworkHeader, Offset: daddrOffset, Len: daddrLength},
		&expr.Lookup{SourceRegister: reg, SetName: set},
	}
}

// nft: ct direction original|reply
func ctDirection(d byte) []expr.Any {
	return []expr.Any{
		&expr.Ct{Key: expr.CtKeyDIRECTION, Register: reg},
		&expr.Cmp{Op: expr.CmpOpEq, Register: reg, Data: []byte{d}},
	}
}

// nft: ct mark and MASK == MARK
func ctMarkIs(mask netplan.Mask, mark netplan.Mark) []expr.Any {
	return []expr.Any{
		&expr.Ct{Key: expr.CtKeyMARK, Register: reg},
		&expr.Bitwise{SourceRegister: reg, DestRegister: reg, Len: 4, Mask: host32(uint32(mask)), Xor: host32(0)},
		&expr.Cmp{Op: expr.CmpOpEq, Register: reg, Data: host32(uint32(mark))},
	}
}

// or sets the mark's bits in the register, as nft has it: clear them, then flip.
func or(mark netplan.Mark) expr.Any {
	return &expr.Bitwise{SourceRegister: reg, DestRegister: reg, Len: 4, Mask: host32(^uint32(mark)), Xor: host32(uint32(mark))}
}

// nft: ct mark set ct mark or MARK
func ctMarkOr(mark netplan.Mark) []expr.Any {
	return []expr.Any{
		&expr.Ct{Key: expr.CtKeyMARK, Register: reg},
		or(mark),
		&expr.Ct{Key: expr.CtKeyMARK, Register: reg, SourceRegister: true},
	}
}

// nft: meta mark set meta mark or MARK
func metaMarkOr(mark netplan.Mark) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyMARK, Register: reg},
		or(mark),
		&expr.Meta{Key: expr.MetaKeyMARK, Register: reg, SourceRegister: true},
	}
}

// nft: meta mark set meta mark and MASK
func metaMarkAnd(mask netplan.Mark) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyMARK, Register: reg},
		&expr.Bitwise{SourceRegister: reg, DestRegister: reg, Len: 4, Mask: host32(uint32(mask)), Xor: host32(0)},
		&expr.Meta{Key: expr.MetaKeyMARK, Register: reg, SourceRegister: true},
	}
}

// fragment is what a reader found at the start of a rule; zero when it is not
// its own.
type fragment struct {
	text string
	n    int
}

// is accepts the start of e when it is exactly want.
func is(e, want []expr.Any, text string) fragment {
	if len(e) < len(want) || !reflect.DeepEqual(e[:len(want)], want) {
		return fragment{}
	}
	return fragment{text: text, n: len(want)}
}

// at gives expression i when it has the type T.
func at[T any](e []expr.Any, i int) (*T, bool) {
	if i >= len(e) {
		return nil, false
	}
	v, ok := any(e[i]).(*T)
	return v, ok
}

func readIifname(e []expr.Any) fragment {
	c, ok := at[expr.Cmp](e, 1)
	if !ok {
		return fragment{}
	}
	name := strings.TrimRight(string(c.Data), "\x00")
	return is(e, iifname(name), "iifname "+strconv.Quote(name))
}

func readDaddrIn(e []expr.Any) fragment {
	l, ok := at[expr.Lookup](e, 3)
	if !ok {
		return fragment{}
	}
	return is(e, daddrIn(l.SetName), "ip daddr @"+l.SetName)
}

func readCtDirection(e []expr.Any) fragment {
	if f := is(e, ctDirection(directionOriginal), "ct direction original"); f.n > 0 {
		return f
	}
	return is(e, ctDirection(directionReply), "ct direction reply")
}

func readCtMarkIs(e []expr.Any) fragment {
	b, okMask := at[expr.Bitwise](e, 1)
	c, okMark := at[expr.Cmp](e, 2)
	if !okMask || !okMark || len(b.Mask) != 4 || len(c.Data) != 4 {
		return fragment{}
	}
	mask, mark := netplan.Mask(binary.NativeEndian.Uint32(b.Mask)), netplan.Mark(binary.NativeEndian.Uint32(c.Data))
	return is(e, ctMarkIs(mask, mark), fmt.Sprintf("ct mark and %s == %s", mask, mark))
}

func readMarkOr(e []expr.Any) fragment {
	b, ok := at[expr.Bitwise](e, 1)
	if !ok || len(b.Xor) != 4 {
		return fragment{}
	}
	mark := netplan.Mark(binary.NativeEndian.Uint32(b.Xor))
	if f := is(e, ctMarkOr(mark), fmt.Sprintf("ct mark set ct mark or %s", mark)); f.n > 0 {
		return f
	}
	return is(e, metaMarkOr(mark), fmt.Sprintf("meta mark set meta mark or %s", mark))
}

func readMarkAnd(e []expr.Any) fragment {
	b, ok := at[expr.Bitwise](e, 1)
	if !ok || len(b.Mask) != 4 {
		return fragment{}
	}
	mask := netplan.Mark(binary.NativeEndian.Uint32(b.Mask))
	return is(e, metaMarkAnd(mask), fmt.Sprintf("meta mark set meta mark and %s", mask))
}

func readCounter(e []expr.Any) fragment {
	if _, ok := at[expr.Counter](e, 0); !ok {
		return fragment{}
	}
	return fragment{text: "counter", n: 1}
}

// host32 is how the kernel keeps a mark in a register.
func host32(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }
