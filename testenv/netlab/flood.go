//go:build linux

package netlab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// floodBatch is how many frames one system call sends at most.
const floodBatch = 256

// message is the kernel's struct mmsghdr: a message, and how much of it was sent.
type message struct {
	unix.Msghdr
	sent uint32
}

// Flood sends whole Ethernet frames from a link, one after the other and then again
// from the first, so many a second, until ctx ends. Many go into one system call,
// each a millisecond after the other, so that 100,000 a second take a part of one
// processor. It gives how many were sent: fewer than the rate means that this
// machine cannot send faster.
func (h *Host) Flood(ctx context.Context, link string, rate int, frames [][]byte) (sent int, err error) {
	l, err := h.nl.LinkByName(link)
	if err != nil {
		return 0, fmt.Errorf("flooding from %s of %s: %w", link, h.name, err)
	}
	socket, err := h.packetSocket(l.Attrs().Index, sendOnly)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, socket.Close()) }()
	messages := messagesOf(frames)
	const beat = time.Millisecond
	for began := time.Now(); ctx.Err() == nil; {
		due := int(time.Since(began).Seconds()*float64(rate)) - sent
		if due <= 0 {
			time.Sleep(beat)
			continue
		}
		at := sent % len(messages)
		n, err := sendMessages(socket, messages[at:min(at+min(due, floodBatch), len(messages))])
		if err != nil {
			return sent, fmt.Errorf("flooding from %s of %s: %w", link, h.name, err)
		}
		sent += n
	}
	return sent, nil
}

func messagesOf(frames [][]byte) []message {
	messages := make([]message, len(frames))
	for i, frame := range frames {
		part := &unix.Iovec{Base: &frame[0]}
		part.SetLen(len(frame))
		messages[i].Iov = part
		messages[i].SetIovlen(1)
	}
	return messages
}

// sendMessages sends messages by one sendmmsg(2) and gives how many the kernel took;
// none when its queue is full.
func sendMessages(socket *os.File, messages []message) (int, error) {
	return withFD(socket, func(fd int) (int, error) {
		n, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&messages[0])), uintptr(len(messages)), 0, 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case unix.ENOBUFS, unix.EAGAIN, unix.EINTR:
			return 0, nil
		}
		return 0, os.NewSyscallError("sendmmsg", errno)
	})
}
