package proxmox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"homeward/agent/ledger"
	"homeward/netplan"
)

// IPAM claims addresses of a VNet's applied subnet in SDN's own IPAM as well, so
// that SDN's DHCP hands none of them out. It is the second claim, never the first:
// an entry there has no owner that could be read back by everybody.
//
// An address is claimed here after its entry in the ledger is pending and before it
// is held, and given back before that entry goes. So whoever holds an address in
// the ledger holds it here, and what a crash leaves here stands under an entry of
// the same owner.
//
// The entries of ours are known by their MAC: locally administered, and following
// from owner and address. The server lists the entries only of zones with DHCP; for
// the others the ledger has to say whose an entry is. It takes SDN.Allocate on
// /sdn/zones/ZONE/VNET.
type IPAM struct {
	api        API
	zone, vnet string
	owner      ledger.Owner
}

// NewIPAM gives the IPAM of a VNet for one owner.
func NewIPAM(api API, zone, vnet string, owner ledger.Owner) (*IPAM, error) {
	err := errors.Join(mustMatch("an SDN zone", zone, sdnName), mustMatch("an SDN VNet", vnet, sdnName), owner.Check())
	if err != nil {
		return nil, err
	}
	return &IPAM{api: api, zone: zone, vnet: vnet, owner: owner}, nil
}

// IPAMAddress is the MAC that stands for an owner's claim of an address in SDN's
// IPAM. No NIC has it.
func IPAMAddress(owner ledger.Owner, address netip.Addr) netplan.MAC {
	sum := sha256.Sum256([]byte("homeward ipam " + owner.ID + " " + owner.Cluster + " " + address.String()))
	return netplan.MAC{0x02, sum[0], sum[1], sum[2], sum[3], sum[4]}
}

// Claim makes the entry. Where there is one already it is ours when the server
// lists it with our MAC, or when it lists none and before says that an earlier run
// of ours came that far: our entry in the ledger was there when this run began.
// Else ErrTaken.
func (i *IPAM) Claim(ctx context.Context, address netip.Addr, before bool) error {
	if err := mustBeAddress(address); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrRefused, err)
	}
	mac := IPAMAddress(i.owner, address)
	err := i.api.Post(ctx, i.path(), i.params(address, mac), &nothing{})
	if errors.Is(err, ledger.ErrGone) {
		// The VNet or its subnet is what does not exist, and waiting makes none.
		err = fmt.Errorf("%w: %w", ledger.ErrRefused, err)
	}
	if !errors.Is(err, ledger.ErrTaken) {
		return wrap(err, "claiming %s in the SDN IPAM of VNet %s", address, i.vnet)
	}
	holder, listed, readErr := i.holder(ctx, address)
	switch {
	case readErr != nil:
		return fmt.Errorf("looking who holds %s in the SDN IPAM of VNet %s: %w", address, i.vnet, readErr)
	case listed && holder.MAC == mac, !listed && before:
		return nil
	case listed:
		return fmt.Errorf("claiming %s in the SDN IPAM of VNet %s: %w: it has %s", address, i.vnet, ledger.ErrTaken, holder)
	}
	return wrap(err, "claiming %s in the SDN IPAM of VNet %s", address, i.vnet)
}

// Release deletes our entry; that there is none is no error. Where the server does
// not list the entry, held has to say that it is ours: our entry in the ledger was
// held. An unlisted entry under a pending one is left alone, for it may be the very
// one that made us give up.
func (i *IPAM) Release(ctx context.Context, address netip.Addr, held bool) error {
	if err := mustBeAddress(address); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrRefused, err)
	}
	mac := IPAMAddress(i.owner, address)
	holder, listed, err := i.holder(ctx, address)
	if err != nil {
		return fmt.Errorf("looking who holds %s in the SDN IPAM of VNet %s: %w", address, i.vnet, err)
	}
	if listed && holder.MAC != mac || !listed && !held {
		return nil
	}
	err = i.api.Delete(ctx, i.path(), i.params(address, mac), &nothing{})
	if errors.Is(err, ledger.ErrGone) {
		return nil
	}
	return wrap(err, "giving up %s in the SDN IPAM of VNet %s", address, i.vnet)
}

// ipamEntry is an entry as the server lists it.
type ipamEntry struct {
	IP       string `json:"ip"`
	MAC      Text   `json:"mac"`
	VMID     Number `json:"vmid"`
	Hostname Text   `json:"hostname"`
	Zone     string `json:"zone"`
	Subnet   Text   `json:"subnet"`
	VNet     string `json:"vnet"`
	Gateway  Flag   `json:"gateway"`
}

// ipamHolder is who has an address.
type ipamHolder struct {
	MAC   netplan.MAC
	entry ipamEntry
}

// String names the holder as an operator finds it.
func (h ipamHolder) String() string {
	var parts []string
	if h.entry.VMID != 0 {
		parts = append(parts, fmt.Sprintf("guest %d", h.entry.VMID))
	}
	if h.entry.Hostname != "" {
		parts = append(parts, netplan.Quote(string(h.entry.Hostname)))
	}
	if h.entry.Gateway {
		parts = append(parts, "the gateway")
	}
	if !h.MAC.IsZero() {
		parts = append(parts, "MAC "+h.MAC.String())
	}
	if len(parts) == 0 {
		return "an entry without a name"
	}
	return strings.Join(parts, ", ")
}

// holder looks for the address among the listed entries.
func (i *IPAM) holder(ctx context.Context, address netip.Addr) (h ipamHolder, listed bool, err error) {
	var list []ipamEntry
	if err := i.api.Get(ctx, ipamStatus(), nil, &list); err != nil {
		return h, false, err
	}
	for _, e := range list {
		if a, err := netip.ParseAddr(e.IP); err != nil || a != address || e.Zone != i.zone {
			continue
		}
		h.entry = e
		// An entry without a MAC, or with one that is none, is not ours.
		h.MAC, _ = netplan.ParseMAC(string(e.MAC))
		return h, true, nil
	}
	return h, false, nil
}

func (i *IPAM) path() string { return Path("cluster", "sdn", "vnets", i.vnet, "ips") }

func (i *IPAM) params(address netip.Addr, mac netplan.MAC) url.Values {
	return url.Values{"zone": {i.zone}, "ip": {address.String()}, "mac": {strings.ToUpper(mac.String())}}
}

// ipamStatus lists SDN's built-in IPAM.
func ipamStatus() string { return Path("cluster", "sdn", "ipams", "pve", "status") }
