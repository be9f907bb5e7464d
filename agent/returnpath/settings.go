package returnpath

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"strings"

	"homeward/netplan"
)

// Settings is what an agent is told about its node. It never changes while the
// agent runs, and is trusted: the command line is checked where it is read.
type Settings struct {
	// ExternalMAC finds the external link; see [FindUplink].
	ExternalMAC netplan.MAC
	// Destinations are the addresses whose connections are marked, as merged
	// ranges; not empty.
	Destinations netplan.AddressSet
	// CIDR is the external network, and Gateway its router. A gateway outside
	// CIDR is reached on the link itself.
	CIDR    netip.Prefix
	Gateway netip.Addr
	// VIP is the API's address on the external link, the zero Addr when there is
	// none.
	VIP        netip.Addr
	Mark       netplan.Mark
	Mask       netplan.Mask
	Table      netplan.TableID
	Priorities netplan.Priorities
	// PreferMain lets marked packets look into the main table first, without its
	// default routes; only with Manage. It cures strict reverse-path checks that use
	// the mark, and costs the clients of networks that the main table knows, like the
	// private one: their replies leave by that link, whichever they came in by.
	PreferMain bool
	// Manage says that the agent owns rules and routes; otherwise someone else
	// does (Talos), and they are only checked.
	Manage bool
}

// Digest is equal for two agents that make the same node. Raise the number in its
// first line with every change of what an agent makes of the same settings: then
// the old version gives way to the new one during an upgrade, and they never
// fight over the table's form.
func (s Settings) Digest() [8]byte {
	var b strings.Builder
	fmt.Fprintln(&b, "homeward settings 2")
	fmt.Fprintln(&b, s.ExternalMAC, s.CIDR, s.Gateway, s.VIP, s.Mark, s.Mask, s.Table, s.Priorities, s.Manage)
	if s.PreferMain {
		// Not in the line above: settings without it keep their digest, and so an agent
		// of before and one of after it agree.
		fmt.Fprintln(&b, "prefer main")
	}
	for _, r := range s.Destinations.Merged() {
		fmt.Fprintln(&b, r.First, r.Last)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return [8]byte(sum[:8])
}

// SettingsStatus is what tells nodes with differing settings apart.
type SettingsStatus struct {
	// Digest is short, and equal on nodes that were told the same but for their
	// NIC's MAC, which is every node's own. A plan tells only some of its nodes of a
	// VIP: compare those with VIP among themselves.
	Digest string `json:"digest"`
	VIP    bool   `json:"vip"`
	// Managed says that the agent owns rules and routes.
	Managed    bool `json:"managed"`
	PreferMain bool `json:"prefer_main"`
}

func (s Settings) status() SettingsStatus {
	shared := s
	shared.ExternalMAC = netplan.MAC{}
	digest := shared.Digest()
	return SettingsStatus{
		Digest: fmt.Sprintf("%x", digest[:4]), VIP: s.VIP.IsValid(), Managed: s.Manage, PreferMain: s.PreferMain,
	}
}
