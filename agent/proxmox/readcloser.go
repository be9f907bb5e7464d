package proxmox

import (
	"context"
	"errors"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// closer reads what only guests near the segment are asked for.
func (r *reader) closer(ctx context.Context) error {
	chosen := func(int) bool { return true }
	if r.options.Closer != nil {
		ids := r.options.Closer(&r.snapshot)
		chosen = func(vmid int) bool { return slices.Contains(ids, vmid) }
	}
	group, ctx := errgroup.WithContext(ctx)
	for i, g := range slices.Clone(r.snapshot.Guests) {
		if !chosen(g.VMID) {
			continue
		}
		source := resource{Type: string(g.Kind), VMID: Number(g.VMID), Name: Text(g.Name), Node: g.Node}.name()
		group.Go(func() error { return r.filters(ctx, g, source) })
		if !r.options.Live || !g.Running || g.Kind == inventory.QEMU && !hasAgent(g.Config["agent"]) {
			continue
		}
		group.Go(func() error {
			live, err := r.live(ctx, g)
			if err != nil {
				return r.failed(ctx, source+", its live addresses", err)
			}
			r.add(func(s *inventory.Snapshot) { s.Guests[i].Live = live })
			return nil
		})
	}
	return group.Wait()
}

// hasAgent reads the option agent: "1", "enabled=1,fstrim_cloned_disks=0". Without
// an agent there is nobody to ask.
func hasAgent(option string) bool {
	for part := range strings.SplitSeq(option, ",") {
		key, value, named := strings.Cut(part, "=")
		if !named {
			key, value = "enabled", part
		}
		if key == "enabled" {
			return value == "1" || value == "yes" || value == "on" || value == "true"
		}
	}
	return false
}

// agentInterface is an interface within a guest, as its agent or a container's host
// gives it.
type agentInterface struct {
	Name      string `json:"name"`
	MAC       Text   `json:"hardware-address"`
	Addresses []struct {
		Address Text `json:"ip-address"`
	} `json:"ip-addresses"`
	// As older servers give a container's.
	HWAddr Text `json:"hwaddr"`
	Inet   Text `json:"inet"`
}

// live asks one guest. That it stopped meanwhile is no failure.
func (r *reader) live(ctx context.Context, g inventory.Guest) ([]inventory.LiveAddress, error) {
	var list []agentInterface
	var err error
	if g.Kind == inventory.LXC {
		err = r.get(ctx, g.Node, GuestPath(g.Node, string(g.Kind), g.VMID, "interfaces"), nil, &list)
	} else {
		var answer struct {
			Result []agentInterface `json:"result"`
		}
		err = r.get(ctx, g.Node, GuestPath(g.Node, string(g.Kind), g.VMID, "agent", "network-get-interfaces"), nil, &answer)
		list = answer.Result
	}
	if isStopped(err) || gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var live []inventory.LiveAddress
	for _, i := range list {
		live = append(live, i.convert()...)
	}
	return live, nil
}

// convert gives the IPv4 addresses, each once, without those that mean only the
// guest itself.
func (i agentInterface) convert() []inventory.LiveAddress {
	m, _ := netplan.ParseMAC(string(i.MAC)) // a tunnel has none
	if m.IsZero() {
		m, _ = netplan.ParseMAC(string(i.HWAddr))
	}
	var out []inventory.LiveAddress
	add := func(text string) {
		text, _, _ = strings.Cut(text, "/")
		a, err := netip.ParseAddr(text)
		if err != nil || !a.Is4() || a.IsLoopback() {
			return
		}
		one := inventory.LiveAddress{Interface: i.Name, MAC: m, Address: a}
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	for _, a := range i.Addresses {
		add(string(a.Address))
	}
	add(string(i.Inet))
	return out
}

// stopped is what the server says of a guest that does not run. "QEMU guest agent is
// not running" is another matter: the guest does, and has addresses.
var stopped = regexp.MustCompile(`^(VM|CT) [0-9]+ (is )?not running`)

// isStopped says that a guest has no live addresses because it does not run: of a
// container the server then says null.
func isStopped(err error) bool {
	var e *Error
	return errors.Is(err, ErrNoData) || errors.As(err, &e) && stopped.MatchString(e.Message)
}
