package guests

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// Actual is one guest as it was read.
type Actual struct {
	Node     string
	VMID     int
	Name     string
	Running  bool
	Template bool
	// Config is the configuration with the changes that wait for a restart, Current
	// what is in force; only the NICs. Digest guards a write.
	Config, Current map[string]string
	Digest          string
	// Options are the guest's firewall's, as they are set; absent is the default.
	Options       map[string]string
	OptionsDigest string
	// Sets are the guest's own sets that filter, or are about to, by name.
	Sets map[string]Set
	// SetsDigest guards a rename.
	SetsDigest string
	// Rules in their order.
	Rules       []Rule
	RulesDigest string
}

// Set is one set of a guest's firewall.
type Set struct {
	Comment string
	Members []inventory.Member
	// Digest guards a change of its members; empty without members.
	Digest string
}

// literals are the IPv4 prefixes that the set lets through: nomatch members and
// aliases are not among them.
func (s Set) literals() []netip.Prefix {
	var out []netip.Prefix
	for _, m := range s.Members {
		if p, ok := literal(m.CIDR); ok && !m.NoMatch && p.Addr().Is4() {
			out = append(out, p)
		}
	}
	return out
}

// String names the guest as an operator knows it.
func (a Actual) String() string { return fmt.Sprintf("VM %d %q on %s", a.VMID, a.Name, a.Node) }

// on says whether an option of the guest's firewall is set to true.
func (a Actual) on(option string) bool { return truth(a.Options[option]) }

// filtered says whether a set or the option filters what a NIC sends: the older
// firewall does with the set alone, the newer one only with the option.
func (a Actual) filtered(key string) bool {
	_, exists := a.Sets[filterSet(key)]
	return exists || a.on("ipfilter")
}

// filterSet is the name of the set that filters a NIC.
func filterSet(key string) string { return "ipfilter-" + key }

// stagingSet is the name under which such a set is built. Neither firewall knows
// it, and no rule of ours names it.
func stagingSet(key string) string { return "homeward-" + filterSet(key) }

// truth reads a boolean the way Proxmox writes one.
func truth(s string) bool {
	switch strings.ToLower(s) {
	case "1", "on", "yes", "true":
		return true
	}
	return false
}

// nics parses the guest's NICs by index. One that cannot be read is an error: it
// must not be overwritten.
func nics(config map[string]string) (map[int]inventory.NIC, error) {
	out := make(map[int]inventory.NIC)
	for key, value := range config {
		n, ok := nicIndex(key)
		if !ok {
			continue
		}
		nic, err := inventory.ParseNIC(inventory.QEMU, value)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", key, err)
		}
		out[n] = nic
	}
	return out, nil
}

// maxNICs is how many NICs a guest can have.
const maxNICs = 32

// nicIndex gives the N of netN.
func nicIndex(key string) (int, bool) {
	digits, ok := strings.CutPrefix(key, "net")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0 && n < maxNICs && nicKey(n) == key
}

func nicKey(n int) string { return "net" + strconv.Itoa(n) }

// ours says whether the guest is the machine's: by its number where the plan gives
// one, and by a MAC or its name. A template never is.
func (d Desired) ours(a Actual) bool {
	if a.Template || a.VMID == 0 || d.Machine.VMID != 0 && d.Machine.VMID != a.VMID {
		return false
	}
	return d.hasMAC(a.Config) || d.hasMAC(a.Current) || a.Name != "" && strings.EqualFold(a.Name, d.Machine.Name)
}

func (d Desired) hasMAC(config map[string]string) bool {
	cards, err := nics(config)
	if err != nil {
		return false
	}
	for _, nic := range cards {
		if !nic.MAC.IsZero() && (nic.MAC == d.Private.MAC || nic.MAC == d.External.MAC) {
			return true
		}
	}
	return false
}

// locate gives the index of a card: the NIC with its MAC, else the one it has by
// default, unless that is the other card's; then the first free one. found is false
// where no NIC stands there.
func (c Card) locate(cards map[int]inventory.NIC, other netplan.MAC) (index int, found bool) {
	for n, nic := range cards {
		if nic.MAC == c.MAC && !c.MAC.IsZero() {
			return n, true
		}
	}
	if nic, ok := cards[c.Index]; !ok || other.IsZero() || nic.MAC != other {
		return c.Index, ok
	}
	for n := range maxNICs {
		if _, taken := cards[n]; !taken && n != c.Index {
			return n, false
		}
	}
	return c.Index, true
}
