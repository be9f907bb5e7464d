//go:build linux

package netlab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// FillConntrack fills the host's connection table to the kernel's limit with
// assured entries, which the kernel does not drop for new ones, and says how many
// it added. New connections through the host then fail; those that are in the
// table go on. The entries stay until FlushConntrack, an hour, or Close.
func (h *Host) FillConntrack(ctx context.Context) (added int, err error) {
	err = h.Do(func() error {
		added, err = fillConntrack(ctx)
		return err
	})
	if err != nil {
		return added, fmt.Errorf("filling the connection table of %s: %w", h.name, err)
	}
	return added, nil
}

// FlushConntrack empties the host's connection table.
func (h *Host) FlushConntrack() error {
	err := h.Do(func() error { return netlink.ConntrackTableFlush(netlink.ConntrackTable) })
	if err != nil {
		return fmt.Errorf("flushing the connection table of %s: %w", h.name, err)
	}
	return nil
}

// conntrackBatch is how many entries go to the kernel in one write: they must
// fit its socket buffer, and so must the errors that answer them.
const conntrackBatch = 200

func fillConntrack(ctx context.Context) (int, error) {
	limit, err := conntrackNumber("nf_conntrack_max")
	if err != nil {
		return 0, err
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_NETFILTER)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	for added := 0; ; {
		count, err := conntrackNumber("nf_conntrack_count")
		if err != nil || count >= limit {
			return added, err
		}
		if ctx.Err() != nil {
			return added, ctx.Err()
		}
		if added > limit {
			return added, fmt.Errorf("%d entries of %d stand after %d were added", count, limit, added)
		}
		var batch []byte
		for range min(conntrackBatch, limit-count) {
			batch = append(batch, assuredEntry(uint32(added))...)
			added++
		}
		if err := unix.Sendto(fd, batch, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
			return added, err
		}
		if err := firstError(fd); err != nil {
			return added, err
		}
	}
}

// firstError reads what the kernel answered to a batch: errors alone, as nobody
// asked for acknowledgements.
func firstError(fd int) error {
	buffer := make([]byte, 1<<16)
	n, _, err := unix.Recvfrom(fd, buffer, unix.MSG_DONTWAIT)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return nil
	case err != nil:
		return err
	case n < unix.SizeofNlMsghdr+4:
		return fmt.Errorf("short answer of %d bytes", n)
	}
	return unix.Errno(-int32(binary.NativeEndian.Uint32(buffer[unix.SizeofNlMsghdr:])))
}

func conntrackNumber(name string) (int, error) {
	text, err := os.ReadFile("/proc/sys/net/netfilter/" + name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(text[:max(len(text)-1, 0)]))
}

// Attributes of linux/netfilter/nfnetlink_conntrack.h.
const (
	ctTupleOrig, ctTupleReply, ctStatus, ctProtoInfo, ctTimeout = 1, 2, 3, 4, 7
	ctTupleIP, ctTupleProto                                     = 1, 2
	ctIPSource, ctIPDestination                                 = 1, 2
	ctProtoNumber, ctProtoSource, ctProtoDestination            = 1, 2, 3
	ctProtoInfoTCP, ctProtoInfoTCPState                         = 1, 1

	// IPS_SEEN_REPLY, IPS_ASSURED, IPS_CONFIRMED.
	statusAssured  = 1<<1 | 1<<2 | 1<<3
	tcpEstablished = 3
	// newEntry is IPCTNL_MSG_CT_NEW of the subsystem NFNL_SUBSYS_CTNETLINK.
	newEntry = 1 << 8
	// entryTimeout is in seconds.
	entryTimeout = 3600
)

// assuredEntry is the n-th message of a series that adds established TCP
// connections between addresses that nobody has (240.0.0.0/4).
func assuredEntry(n uint32) []byte {
	client := binary.BigEndian.AppendUint32(nil, 0xf0000000|n>>8)
	server := []byte{255, 0, 0, 1}
	port := binary.BigEndian.AppendUint16(nil, 1024+uint16(n&0xff))
	web := []byte{0, 80}
	body := []byte{unix.AF_INET, 0, 0, 0}
	body = append(body, nested(ctTupleOrig, tuple(client, server, port, web))...)
	body = append(body, nested(ctTupleReply, tuple(server, client, web, port))...)
	body = append(body, attribute(ctStatus, binary.BigEndian.AppendUint32(nil, statusAssured))...)
	body = append(body, attribute(ctTimeout, binary.BigEndian.AppendUint32(nil, entryTimeout))...)
	body = append(body, nested(ctProtoInfo, nested(ctProtoInfoTCP, attribute(ctProtoInfoTCPState, []byte{tcpEstablished})))...)

	message := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(body)))
	message = binary.NativeEndian.AppendUint16(message, newEntry)
	message = binary.NativeEndian.AppendUint16(message, unix.NLM_F_REQUEST|unix.NLM_F_CREATE|unix.NLM_F_EXCL)
	message = append(message, make([]byte, 8)...)
	return append(message, body...)
}

func tuple(source, destination, sourcePort, destinationPort []byte) []byte {
	ip := append(attribute(ctIPSource, source), attribute(ctIPDestination, destination)...)
	proto := attribute(ctProtoNumber, []byte{unix.IPPROTO_TCP})
	proto = append(proto, attribute(ctProtoSource, sourcePort)...)
	proto = append(proto, attribute(ctProtoDestination, destinationPort)...)
	return append(nested(ctTupleIP, ip), nested(ctTupleProto, proto)...)
}

func nested(kind uint16, payload []byte) []byte { return attribute(kind|unix.NLA_F_NESTED, payload) }

// attribute is one netlink attribute, padded to four bytes.
func attribute(kind uint16, payload []byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(payload)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = append(b, payload...)
	return append(b, make([]byte, (4-len(payload)%4)%4)...)
}
