//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"sync"
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

// dhcpSummary closes the offers. It is there without any, too: that nobody offered
// means something only where the path is proven.
type dhcpSummary struct {
	Kind    string     `json:"kind"` // "summary"
	Proven  bool       `json:"proven"`
	Witness netip.Addr `json:"witness,omitzero"`
	Doubt   string     `json:"doubt,omitempty"`
	Offers  int        `json:"offers"`
	// Wrong is how many offers are of an address of the plan.
	Wrong int `json:"wrong"`
}

// dhcpFindings are all of a DHCP check. Their JSON is a contract for scripts.
type dhcpFindings struct {
	Offers  []dhcpFinding `json:"offers"`
	Summary dhcpSummary   `json:"summary"`
}

// dhcpCheck asks the segment's DHCP servers what they offer. An address of the plan
// among it is a failed check: it is to be reserved outside DHCP.
func (h *host) dhcpCheck(ctx context.Context) int {
	var offers []segment.Offer
	var path segment.Report
	err := h.kernel.OnWire(ctx, h.watched.leg, func(w *kernel.Wire) (err error) {
		offers, path, err = h.askDHCP(ctx, w)
		return err
	})
	if err != nil {
		h.cannot("asking for DHCP offers", err)
		return exitUnknown
	}
	found := h.judgeOffers(offers, path)
	if err := found.print(h.out, h.options.output); err != nil {
		h.log.Error("printing", "error", err)
		return exitFailed
	}
	switch {
	case !found.Summary.Proven:
		return exitUnknown
	case found.Summary.Wrong > 0:
		return exitFailed
	}
	return exitDone
}

// askDHCP asks for offers, and meanwhile by ARP whether an answer would come at all:
// on a deaf interface nobody offers anything either.
func (h *host) askDHCP(ctx context.Context, w *kernel.Wire) (offers []segment.Offer, path segment.Report, err error) {
	dhcp, err := w.OpenDHCP()
	if err != nil {
		return nil, path, err
	}
	defer func() { err = errors.Join(err, dhcp.Close()) }()
	var asking sync.WaitGroup
	var probeErr error
	asking.Go(func() { path, probeErr = segment.Probe(ctx, w, h.question()) })
	offers, err = segment.AskDHCP(ctx, dhcp, h.wishes())
	asking.Wait()
	return offers, path, errors.Join(err, probeErr)
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

// judgeOffers says which offers are of addresses that the plan has, and what it is
// worth that there are no others.
func (h *host) judgeOffers(offers []segment.Offer, path segment.Report) dhcpFindings {
	found := dhcpFindings{Offers: []dhcpFinding{}, Summary: dhcpSummary{Kind: "summary", Proven: path.Proven, Witness: path.Witness, Offers: len(offers)}}
	switch {
	case path.Proven:
	case len(h.watched.targets) == 0:
		found.Summary.Doubt = "no address was known to ask for: name one that answers with --gateway or --witnesses, or give the --plan"
	default:
		found.Summary.Doubt = path.Doubt()
	}
	uses := map[netip.Addr]string{}
	for _, t := range h.watched.targets {
		uses[t.Address] = t.Use
	}
	for _, o := range offers {
		f := dhcpFinding{Kind: "offer", Offer: o, Use: uses[o.Address]}
		if f.Use != "" {
			found.Summary.Wrong++
		}
		found.Offers = append(found.Offers, f)
	}
	return found
}

// text says what the offers, or their absence, are worth.
func (s dhcpSummary) text() string {
	switch {
	case !s.Proven && s.Offers == 0:
		return "No DHCP server offered anything, which proves nothing: " + s.Doubt
	case !s.Proven:
		return "There may be more servers than those, for the path is not proven: " + s.Doubt
	case s.Offers == 0:
		return fmt.Sprintf("%s answered, and no DHCP server offered anything.", s.Witness)
	}
	return fmt.Sprintf("%s answered, so this is what is offered here.", s.Witness)
}

// print writes the offers and what they are worth.
func (d dhcpFindings) print(out io.Writer, format string) error {
	switch format {
	case outputJSON:
		return printJSON(out, d)
	case outputJSONL:
		return printLines(out, d.Offers, d.Summary)
	}
	if len(d.Offers) > 0 {
		if err := printOffers(out, d.Offers); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out, d.Summary.text())
	return err
}

func printOffers(out io.Writer, found []dhcpFinding) error {
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
	fmt.Fprintln(t)
	return t.Flush()
}
