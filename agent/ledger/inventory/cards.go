package inventory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Card is a guest's NIC with what the guest is told about its address there.
type Card struct {
	// Index is N of netN.
	Index int
	NIC   NIC
	// IPConfig is a container's own, or that of QEMU's ipconfigN.
	IPConfig IPConfig
	// Pending says that the NIC or its address is as it will be at the next start;
	// the same card as it is now comes before it, unless it is new.
	Pending bool
	// unread says why IPConfig could not be read; nil when it could.
	unread error
}

// Key is the NIC's key in the configuration, net1.
func (c Card) Key() string { return netKey + strconv.Itoa(c.Index) }

const (
	netKey      = "net"
	ipConfigKey = "ipconfig"
	// maxCards is how many cards a guest can have, QEMU 32, with room for more.
	maxCards = 1000
)

// Cards gives the guest's NICs by index, each as it is now and, where that
// differs, as it is after the next start. A NIC that cannot be read is in unread.
func (g Guest) Cards() (cards []Card, unread []Unread) {
	var later map[string]string
	if len(g.Pending) > 0 {
		later = maps.Clone(g.Config)
		if later == nil {
			later = map[string]string{}
		}
		for key, value := range g.Pending {
			if later[key] = value; value == "" {
				delete(later, key)
			}
		}
	}
	indexes := cardIndexes(g.Config, later)
	cards = make([]Card, 0, len(indexes))
	for _, index := range indexes {
		now, hasNow, err := g.card(g.Config, index)
		if err != nil {
			unread = append(unread, g.unread(index, err))
		} else if hasNow {
			cards = append(cards, now)
		}
		if later == nil || !g.changes(index) {
			continue
		}
		then, hasThen, err := g.card(later, index)
		then.Pending = true
		if err != nil {
			unread = append(unread, g.unread(index, fmt.Errorf("pending: %w", err)))
		} else if hasThen {
			cards = append(cards, then)
		}
	}
	return cards, unread
}

func (g Guest) unread(index int, err error) Unread {
	return Unread{Source: fmt.Sprintf("%s, net%d", g.Source(), index), Reason: fmt.Sprintf("cannot be read: %v", err)}
}

// changes says whether a change of this card is pending.
func (g Guest) changes(index int) bool {
	n := strconv.Itoa(index)
	_, nic := g.Pending[netKey+n]
	_, ip := g.Pending[ipConfigKey+n]
	return nic || ip
}

// card reads one card of one view of the configuration.
func (g Guest) card(config map[string]string, index int) (c Card, ok bool, err error) {
	n := strconv.Itoa(index)
	text, ok := config[netKey+n]
	if !ok {
		return c, false, nil
	}
	c.Index = index
	if c.NIC, err = ParseNIC(g.Kind, text); err != nil {
		return c, false, err
	}
	c.IPConfig = c.NIC.IPConfig
	if text, ok := config[ipConfigKey+n]; ok && g.Kind != LXC {
		c.IPConfig, c.unread = ParseIPConfig(text)
	}
	return c, true, nil
}

// cardIndexes are the N of all netN, ascending.
func cardIndexes(configs ...map[string]string) []int {
	var out []int
	for _, config := range configs {
		for key := range config {
			digits, ok := strings.CutPrefix(key, netKey)
			if !ok {
				continue
			}
			n, err := strconv.Atoi(digits)
			if err == nil && n >= 0 && n < maxCards && strconv.Itoa(n) == digits {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// parsed is a guest with its cards read.
type parsed struct {
	guest  *Guest
	cards  []Card
	unread []Unread
	named  string // what source gives, once it was asked
}

// source is the guest's Source.
func (p *parsed) source() string {
	if p.named == "" {
		p.named = p.guest.Source()
	}
	return p.named
}

// parse reads the cards of all guests, in an order that does not depend on the
// server's.
func parse(guests []Guest) []parsed {
	out := make([]parsed, len(guests))
	for i := range guests {
		out[i].guest = &guests[i]
	}
	slices.SortStableFunc(out, func(a, b parsed) int { return cmp.Compare(a.guest.VMID, b.guest.VMID) })
	for i := range out {
		out[i].cards, out[i].unread = out[i].guest.Cards()
	}
	return out
}
