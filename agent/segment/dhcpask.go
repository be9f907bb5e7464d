package segment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"time"

	"homeward/netplan"
)

// DHCPWire carries IPv4 packets to all of a segment, and those to DHCP clients back.
type DHCPWire interface {
	MAC() netplan.MAC
	ReadPacket(b []byte) (n int, err error)
	WritePacket(packet []byte) error
	SetReadDeadline(t time.Time) error
}

const (
	// offerWait is how long offers are waited for: servers may look with a ping of up
	// to 3 s whether an address is in use before they offer it.
	offerWait = 5 * time.Second
	// askAgain is when a message that may have been lost is sent once more.
	askAgain = 2 * time.Second
	// maxDHCP is the longest message that is read, in bytes.
	maxDHCP = 1500
	// maxOffers bounds what a hostile server can make us keep.
	maxOffers = 256
)

// AskDHCP asks what the segment's DHCP servers would give: without a wish, and for
// each of the addresses. It sends DHCPDISCOVERs and never takes what is offered; a
// server holds an offer for some seconds and forgets it. No offer is no error, and
// proves only that nobody offered.
func AskDHCP(ctx context.Context, w DHCPWire, addresses []netip.Addr) ([]Offer, error) {
	asked := map[uint32]netip.Addr{}
	send := func() error {
		for id, a := range asked {
			if err := w.WritePacket(discover(id, w.MAC(), a)); err != nil {
				return fmt.Errorf("asking for DHCP offers: %w", err)
			}
		}
		return nil
	}
	for _, a := range append([]netip.Addr{{}}, addresses...) {
		asked[rand.Uint32()] = a
	}
	var offers []Offer
	var buffer [maxDHCP]byte
	began := time.Now()
	sent := 0
	for {
		elapsed := time.Since(began)
		if elapsed >= offerWait {
			return sortOffers(offers), nil
		}
		if sent == 0 || sent == 1 && elapsed >= askAgain {
			sent++
			if err := send(); err != nil {
				return nil, err
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := w.SetReadDeadline(time.Now().Add(readSlice)); err != nil {
			return nil, err
		}
		n, err := w.ReadPacket(buffer[:])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		if err != nil {
			return nil, err
		}
		o, id, ok := parseOffer(buffer[:n], w.MAC())
		wish, ours := asked[id]
		if ok && ours && len(offers) < maxOffers {
			o.Asked = wish
			offers = append(offers, o)
		}
	}
}
