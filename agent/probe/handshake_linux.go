package probe

import (
	"fmt"
	"io"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// socketError gives the error of a socket that has one, or io.EOF for one that has
// ended without.
func socketError(fd int) error {
	number, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		return err
	}
	if number == 0 {
		return io.EOF
	}
	return unix.Errno(number)
}

// repeated says that the kernel has sent the SYN more than once.
func repeated(fd int) bool {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	return err != nil || info.Total_retrans > 0
}

// portRange is of ports, with both ends.
type portRange struct{ first, last uint16 }

func (r portRange) has(port uint16) bool { return r.first <= port && port <= r.last }

// clientPorts are those that the kernel chooses from for clients; where it does
// not say, all that it could.
func clientPorts() portRange {
	r := portRange{1024, 65535}
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return r
	}
	var read portRange
	if _, err := fmt.Sscan(string(text), &read.first, &read.last); err != nil {
		return r
	}
	return read
}

// metItself says that a socket is connected with itself: where nobody listens on a
// port of this machine, the kernel may choose it for the client, and the SYN then
// opens the connection from both sides (RFC 9293 3.5).
func metItself(fd int, target netip.AddrPort) bool {
	own, err := unix.Getsockname(fd)
	if err != nil {
		return false
	}
	switch own := own.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(own.Addr), uint16(own.Port)) == target
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(own.Addr), uint16(own.Port)) == target
	}
	return false
}
