//go:build linux

package netlab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// packetBuffer is the receive buffer asked for, in bytes. In a user namespace
// the kernel cuts it to net.core.rmem_max; what overflows is counted.
const packetBuffer = 8 << 20

// sendOnly is the ethertype of a packet socket that receives nothing.
const sendOnly = 0

// packetSocket opens an AF_PACKET socket that receives one ethertype
// (unix.ETH_P_ALL: all, our own frames too) on one link.
func (h *Host) packetSocket(index int, ethertype uint16) (file *os.File, err error) {
	err = h.Do(func() error {
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("opening a packet socket: %w", err)
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, packetBuffer); err != nil {
			return errors.Join(err, unix.Close(fd))
		}
		// Bound to one link from the first packet on: protocol zero above
		// receives nothing.
		if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: htons(ethertype), Ifindex: index}); err != nil {
			return errors.Join(fmt.Errorf("binding a packet socket: %w", err), unix.Close(fd))
		}
		file = os.NewFile(uintptr(fd), "packet")
		return nil
	})
	return file, err
}

// receive waits for one frame.
func receive(file *os.File, buffer []byte) (n int, from *unix.SockaddrLinklayer, err error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return 0, nil, err
	}
	var sender unix.Sockaddr
	readErr := raw.Read(func(fd uintptr) bool {
		for {
			n, sender, err = unix.Recvfrom(int(fd), buffer, 0)
			if !errors.Is(err, unix.EINTR) {
				break
			}
		}
		return !errors.Is(err, unix.EAGAIN)
	})
	if err := errors.Join(readErr, err); err != nil {
		return 0, nil, err
	}
	from, ok := sender.(*unix.SockaddrLinklayer)
	if !ok {
		return 0, nil, errors.New("packet without a sender")
	}
	return n, from, nil
}

// htons gives a number in network byte order, as packet socket addresses want it.
func htons(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}
