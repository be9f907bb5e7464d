//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"text/tabwriter"

	"homeward/agent/kernel"
	"homeward/agent/segment"
	"homeward/netplan"
)

// dhcpFinding is one offer and whose address it would be. Its JSON is a contract
// for scripts.
type dhcpFinding struct {
	Kind string `json:"kind"` // "offer"
	segment.Offer
	// Use is what the plan has the address for; empty when it has it for nothing.
	Use string `json:"use,omitempty"`
}

// maxWishes is how many addresses are asked for by option 50.
const maxWishes = 16

// dhcpCheck asks the segment's DHCP servers what they offer. An address of the plan
// among it is a failed check: it is to be reserved outside DHCP.
func (h *host) dhcpCheck(ctx context.Context) int {
	var offers []segment.Offer
	err := h.onWire(ctx, func(w *kernel.Wire) (err error) {
		dhcp, err := w.OpenDHCP()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, dhcp.Close()) }()
		offers, err = segment.AskDHCP(ctx, dhcp, h.wishes())
		return err
	})
	if err != nil {
		h.log.Error("asking for DHCP offers", "error", err)
		return exitFailed
	}
	found, bad := h.judgeOffers(offers)
	if err := printOffers(h.out, h.options.output, found); err != nil {
		h.log.Error("printing", "error", err)
		return exitFailed
	}
	if bad {
		return exitFailed
	}
	return exitDone
}

// wishes are the first and last address of each range of ours: a server that would
// give away any address of a range mostly gives away one of its ends.
func (h *host) wishes() (out []netip.Addr) {
	var ours netplan.AddressSet
	for _, t := range h.watched.targets {
		if t.Ours {
			ours = append(ours, netplan.Range{First: t.Address, Last: t.Address})
		}
	}
	for _, r := range ours.Merged() {
		out = append(out, r.First)
		if r.Last != r.First {
			out = append(out, r.Last)
		}
	}
	return out[:min(len(out), maxWishes)]
}

// judgeOffers says which offers are of addresses that the plan has.
func (h *host) judgeOffers(offers []segment.Offer) (found []dhcpFinding, bad bool) {
	uses := map[netip.Addr]string{}
	for _, t := range h.watched.targets {
		uses[t.Address] = t.Use
	}
	for _, o := range offers {
		f := dhcpFinding{Kind: "offer", Offer: o, Use: uses[o.Address]}
		bad = bad || f.Use != ""
		found = append(found, f)
	}
	return found, bad
}

func printOffers(out io.Writer, format string, found []dhcpFinding) error {
	if format == outputJSONL {
		e := json.NewEncoder(out)
		for _, f := range found {
			if err := e.Encode(f); err != nil {
				return err
			}
		}
		return nil
	}
	if len(found) == 0 {
		_, err := fmt.Fprintln(out, "no DHCP server offered anything")
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "DHCP SERVER\tASKED FOR\tOFFERS\tVERDICT")
	for _, f := range found {
		asked, verdict := "any address", "no address of the plan"
		if f.Asked.IsValid() {
			asked = f.Asked.String()
		}
		if f.Use != "" {
			verdict = "WRONG: that is " + f.Use + "; take it out of the server's range"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", f.Server, asked, f.Address, verdict)
	}
	return t.Flush()
}
