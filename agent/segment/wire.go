package segment

import (
	"net/netip"
	"time"

	"homeward/netplan"
)

// Wire is one L2 segment as this host sees it: an interface that carries the
// segment untagged. One goroutine reads and writes.
type Wire interface {
	// MAC is the interface's, which answers come back to.
	MAC() netplan.MAC
	// Local are this host's own IPv4 addresses, on whatever interface. The kernel
	// answers for each of them on every interface, but not to itself.
	Local() []netip.Addr
	// ReadFrame waits for an ARP frame, until the deadline (os.ErrDeadlineExceeded).
	// A longer frame is cut.
	ReadFrame(b []byte) (n int, err error)
	// WriteFrame sends one.
	WriteFrame(frame []byte) error
	SetReadDeadline(t time.Time) error
	// Lost is how many frames since the call before arrived and were thrown away
	// because nobody read them in time.
	Lost() (uint64, error)
}
