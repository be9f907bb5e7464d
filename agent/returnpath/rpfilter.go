package returnpath

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"

	"homeward/netplan"
)

// The values of rp_filter.
const (
	rpStrict = 1
	rpLoose  = 2
)

// checkReversePath reports links whose reverse-path check drops what must pass.
// On the external link a strict check drops the client's packets: the way back
// to the client is by the private link, as far as an unmarked packet goes. On any
// other link a strict check that uses the mark drops the marked reply: the way
// back to its sender would lead out of the external link. The agent cannot set
// these values: /proc/sys is read-only in its container. Where marked packets look
// into the main table first ([Settings].PreferMain), that check finds every backend
// but those that the default route leads to.
func checkReversePath(ctx context.Context, k Kernel, desired State, actual Actual) []Problem {
	if actual.LinksErr != nil {
		return nil
	}
	private := privateLinks(actual)
	preferMain := slices.ContainsFunc(desired.Rules, func(r netplan.Rule) bool { return r.SuppressDefault })
	var out []Problem
	for _, l := range actual.Links {
		if l.Name == "lo" || !l.Up {
			continue
		}
		rp, err := k.ReversePath(ctx, l)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the link went away meanwhile
		}
		if err != nil {
			out = append(out, Problem{Kind: ProblemNotListed, Text: fmt.Sprintf("reading rp_filter of %s: %v", l.Name, err)})
			continue
		}
		external := desired.Uplink != nil && l.Index == desired.Uplink.Index
		if p, bad := judgeReversePath(l, rp, external, slices.Contains(private, l.Index), preferMain); bad {
			out = append(out, p)
		}
	}
	return out
}

// privateLinks are those of the main table's default routes.
func privateLinks(actual Actual) []int {
	everywhere := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	var out []int
	for _, r := range actual.Routes {
		if r.Table == mainTable && r.Destination == everywhere {
			out = append(out, r.Link)
		}
	}
	return out
}

func judgeReversePath(l netplan.Link, rp netplan.ReversePath, external, private, preferMain bool) (Problem, bool) {
	pair := fmt.Sprintf("link %s: rp_filter=%d src_valid_mark=%d (effective)", l.Name, rp.RPFilter, rp.SrcValidMark)
	p := Problem{Kind: ProblemRPFilter, Blocking: true}
	switch {
	case rp.RPFilter != rpStrict:
		return Problem{}, false
	case external:
		p.Text = pair + ": a strict check drops the clients' packets on the external link"
		p.Remedy = fmt.Sprintf("set net.ipv4.conf.%s.rp_filter=%d (the higher of all and the link's own counts)", l.Name, rpLoose)
	case rp.SrcValidMark != 1:
		return Problem{}, false
	case preferMain && !private:
		return Problem{}, false
	case preferMain:
		p.Blocking = false
		p.Text = pair + ": a strict check that uses the mark drops marked replies of backends behind the default gateway"
		p.Remedy = fmt.Sprintf("if there are such backends, set net.ipv4.conf.%s.rp_filter=%d", l.Name, rpLoose)
	case private:
		p.Text = pair + ": a strict check that uses the mark drops marked replies of backends on other nodes"
		p.Remedy = fmt.Sprintf("set net.ipv4.conf.%s.rp_filter=%d, or src_valid_mark=0 on it and on all", l.Name, rpLoose)
	default:
		p.Text = pair + ": a strict check that uses the mark drops marked replies that come in there"
		p.Remedy = fmt.Sprintf("set net.ipv4.conf.%s.rp_filter=%d, or src_valid_mark=0 on it and on all", l.Name, rpLoose)
	}
	return p, true
}
