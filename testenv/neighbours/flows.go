//go:build linux

package neighbours

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"homeward/testenv/netlab"
)

const (
	// firstPort is the first flow's; each has its own, to be told apart on the wire.
	firstPort = 7001
	// echoPort answers on the private gateway.
	echoPort = 9001
	// patience is how long a packet may take on a busy machine, and stillness how long
	// one that shall not come is waited for.
	patience  = 20 * time.Second
	stillness = 100 * time.Millisecond
	// witness is a table that counts.
	witness = "neighbours_witness"
)

// Ask sends every flow of the neighbour and gathers which went another way than they
// must.
func (r *Resident) Ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	links := []string{r.node.PrivateLink, r.node.ExternalLink, "lo"}
	if r.Link != "" {
		links = append(links, r.Link)
	}
	capture, err := r.node.Capture(ctx, links...)
	if err != nil {
		return err
	}
	var errs []error
	for i, f := range r.Flows {
		err := r.send(ctx, f, uint16(firstPort+i))
		if f.Link == nowhere {
			continue // that it cannot even be sent is right
		}
		if err == nil {
			_, err = capture.Wait(ctx, func(p netlab.Packet) bool { return f.leaves(p, firstPort+i) })
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("sending %s: %w", f, err))
		}
	}
	time.Sleep(stillness)
	packets, err := capture.Stop(ctx)
	errs = append(errs, err)
	for _, p := range packets {
		for i, f := range r.Flows {
			if f.leaves(p, firstPort+i) && (p.Link != f.Link || f.As.IsValid() && p.Source != f.As) {
				errs = append(errs, fmt.Errorf("%s went as %s", f, p))
			}
		}
	}
	return errors.Join(append(errs, r.askRestored(ctx))...)
}

// leaves says that a packet is this flow's on its way out of the node.
func (f Flow) leaves(p netlab.Packet, port int) bool {
	return p.Leaving && p.Protocol == netlab.UDP && int(p.DestinationPort) == port
}

// String names the flow.
func (f Flow) String() string {
	s := fmt.Sprintf("flow from %s to %s", f.From, f.To)
	if f.Mark != 0 {
		s += fmt.Sprintf(" with mark 0x%x", f.Mark)
	}
	if f.Link == nowhere {
		return s + ", which leaves by no link"
	}
	return s + ", which leaves by " + f.Link
}

// send sends a flow's datagram.
func (r *Resident) send(ctx context.Context, f Flow, port uint16) error {
	from := map[Origin]*netlab.Host{FromNode: r.node.Host, FromPod: r.node.Pod, FromTunnel: r.tunnel}[f.From]
	c, err := dial(ctx, from, f.Mark, f.Source, netip.AddrPortFrom(f.To, port))
	if err != nil {
		return err
	}
	_, err = c.Write([]byte("neighbour"))
	return errors.Join(err, c.Close())
}

// dial opens a UDP socket on a host whose packets have a mark.
func dial(ctx context.Context, h *netlab.Host, mark uint32, source netip.Addr, to netip.AddrPort) (c net.Conn, err error) {
	d := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		controlErr := raw.Control(func(fd uintptr) {
			if mark != 0 {
				err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_MARK, int(mark))
			}
		})
		return errors.Join(controlErr, err)
	}}
	if source.IsValid() {
		d.LocalAddr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(source, 0))
	}
	err = h.Do(func() (err error) {
		c, err = d.DialContext(ctx, "udp4", to.String())
		return err
	})
	return c, err
}

// askRestored asks the private gateway with the neighbour's mark and holds that the
// answer comes in with the bits that it restores.
func (r *Resident) askRestored(ctx context.Context) error {
	want := r.Restores
	if want == (Bits{}) {
		return nil
	}
	server, err := netlab.StartEcho(r.cluster.PrivateGateway, echoPort)
	if err != nil {
		return err
	}
	defer server.Close()
	text := fmt.Sprintf(`table inet %s {
	chain in {
		type filter hook input priority 10; policy accept;
		udp sport %d meta mark and 0x%x == 0x%x counter
	}
}`, witness, echoPort, want.Mask, want.Mark)
	if err := r.nft(ctx, text); err != nil {
		return err
	}
	asked := r.askEcho(ctx, want.Mark)
	out, err := r.node.Command(ctx, "nft", "list", "table", "inet", witness).Output()
	err = errors.Join(asked, err, r.nft(ctx, "delete table inet "+witness))
	if err == nil && strings.Contains(string(out), "counter packets 0 ") {
		err = fmt.Errorf("the answer to what %s sends with mark 0x%x came in without it", r.Name, want.Mark)
	}
	return err
}

// askEcho makes one request to the private gateway with that mark.
func (r *Resident) askEcho(ctx context.Context, mark uint32) error {
	c, err := dial(ctx, r.node.Host, mark, netip.Addr{}, netip.AddrPortFrom(r.cluster.Addresses.PrivateGateway, echoPort))
	if err != nil {
		return err
	}
	defer c.Close()
	deadline, _ := ctx.Deadline()
	if err := c.SetDeadline(deadline); err != nil {
		return err
	}
	request := slices.Concat(make([]byte, 8), []byte{0, 0, 0, netlab.SmallestReply})
	if _, err := c.Write(request); err != nil {
		return err
	}
	if _, err := c.Read(make([]byte, netlab.SmallestReply)); err != nil {
		return fmt.Errorf("asking with mark 0x%x: %w", mark, err)
	}
	return nil
}

func (r *Resident) nft(ctx context.Context, text string) error {
	if out, err := r.node.Command(ctx, "nft", text).CombinedOutput(); err != nil {
		return fmt.Errorf("nft: %w: %s", err, out)
	}
	return nil
}
