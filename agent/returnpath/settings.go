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
	fmt.Fprintln(&b, "homeward settings 1")
	fmt.Fprintln(&b, s.ExternalMAC, s.CIDR, s.Gateway, s.VIP, s.Mark, s.Mask, s.Table, s.Priorities, s.Manage)
	for _, r := range s.Destinations.Merged() {
		fmt.Fprintln(&b, r.First, r.Last)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return [8]byte(sum[:8])
}
