package returnpath

import (
	"context"
	"fmt"
)

// ipv6Problems reports an IPv6 default route by the external link, which a router
// advertisement there makes on a NIC that listens to them. No mark and no rule of
// ours concerns IPv6: what the node sends would leave there, past the private
// network's firewall. It keeps no IPv4 reply from going home, so it is a note.
func ipv6Problems(ctx context.Context, k Kernel, desired State) []Problem {
	if desired.Uplink == nil {
		return nil
	}
	link := *desired.Uplink
	gateway, found, err := k.IPv6Default(ctx, link)
	switch {
	case err != nil:
		return []Problem{{Kind: ProblemNotListed, Text: oneLine(err)}}
	case !found:
		return nil
	}
	via := ""
	if gateway.IsValid() {
		via = " via " + gateway.String()
	}
	return []Problem{{
		Kind:   ProblemIPv6Default,
		Text:   fmt.Sprintf("IPv6 has a default route%s by the external link %s: what the node sends over IPv6 may leave there, and nothing here steers it", via, link.Name),
		Remedy: fmt.Sprintf("set net.ipv6.conf.%s.accept_ra=0 when a router advertisement made it, and delete the route", link.Name),
	}}
}
