package inventory

import (
	"fmt"
	"strconv"
	"strings"

	"homeward/netplan"
)

// NIC is one network card of a guest. The fields are what its property string
// says; With and Without change the string and keep everything else in it, also
// options that are unknown here.
type NIC struct {
	Kind GuestKind
	// Model is a QEMU card's; Name is a container's interface, as it sees it.
	Model, Name string
	// MAC is zero when the string has none (the server gives one when it is made).
	MAC netplan.MAC
	// Bridge is a bridge's or a VNet's name; empty for QEMU's user network, which
	// is on no segment.
	Bridge string
	// Tag is zero without one: then what the card sends untagged is untagged on
	// the bridge, and tagged frames of Trunks pass as they are.
	Tag netplan.VLAN
	// Trunks are the tags that pass, nil when the string has none, which on a card
	// without a tag means all that the bridge lets through.
	Trunks VLANSet
	// Firewall puts the guest's rules in force on this card; absent is off.
	Firewall bool
	// LinkDown is a pulled plug.
	LinkDown bool
	// MTU in bytes; zero is the default, 1 the bridge's (QEMU).
	MTU int
	// IPConfig is a container's, whose address stands in the same string.
	IPConfig IPConfig

	options Properties
}

// ParseNIC reads the value of a netN. The error says which part of it is wrong.
func ParseNIC(kind GuestKind, s string) (NIC, error) {
	options, err := ParseProperties(s)
	if err != nil {
		return NIC{}, err
	}
	return readNIC(kind, options)
}

func readNIC(kind GuestKind, options Properties) (n NIC, err error) {
	n = NIC{Kind: kind, options: options}
	n.Bridge, _ = options.Get("bridge")
	if kind == LXC {
		err = n.container()
	} else {
		err = n.card()
	}
	if err != nil {
		return NIC{}, err
	}
	if n.Firewall, err = options.flag("firewall"); err != nil {
		return NIC{}, err
	}
	if n.LinkDown, err = options.flag("link_down"); err != nil {
		return NIC{}, err
	}
	if s, ok := options.Get("tag"); ok {
		if n.Tag, err = parseVLAN(s); err != nil {
			return NIC{}, fmt.Errorf("tag: %w", err)
		}
	}
	if s, ok := options.Get("trunks"); ok {
		if n.Trunks, err = ParseVLANs(s); err != nil {
			return NIC{}, fmt.Errorf("trunks: %w", err)
		}
	}
	if s, ok := options.Get("mtu"); ok {
		if n.MTU, err = strconv.Atoi(s); err != nil || n.MTU < 1 || n.MTU > 65535 {
			return NIC{}, fmt.Errorf("mtu %s is not a number of bytes", netplan.Quote(s))
		}
	}
	return n, nil
}

// card reads what only a QEMU card has. The model stands in one of three ways:
// virtio=MAC, model=virtio,macaddr=MAC, or virtio alone. A model that is new is
// known by its MAC.
func (n *NIC) card() (err error) {
	mac, hasMAC := n.options.Get("macaddr")
	model, hasModel := n.options.Get("model")
	if bare, ok := n.options.Get(""); ok {
		if hasModel {
			return fmt.Errorf("model is given twice: %s and %s", netplan.Quote(model), netplan.Quote(bare))
		}
		model, hasModel = bare, true
	}
	if key, found := n.modelKey(); key != "" {
		if hasModel || hasMAC {
			return fmt.Errorf("model or MAC is given twice: %s beside %s", netplan.Quote(key), netplan.Quote(model+mac))
		}
		mac, _ = n.options.Get(key)
		model, hasModel, hasMAC = key, true, found.IsZero()
		n.MAC = found
	}
	if !hasModel {
		return fmt.Errorf("no model: give one like virtio")
	}
	n.Model = model
	if hasMAC {
		n.MAC, err = netplan.ParseMAC(mac)
	}
	return err
}

// modelKey is the key of a part like virtio=MAC, with the MAC where it can be
// read; empty when there is none.
func (n *NIC) modelKey() (string, netplan.MAC) {
	for _, x := range n.options.parts {
		if x.key == "" || x.key == "macaddr" || strings.Count(x.value, ":") != 5 {
			continue
		}
		if mac, err := netplan.ParseMAC(x.value); err == nil {
			return x.key, mac
		}
	}
	for _, x := range n.options.parts {
		if models[x.key] {
			return x.key, netplan.MAC{}
		}
	}
	return "", netplan.MAC{}
}

// models are QEMU's cards, whose names may stand as a key: only for a MAC that
// cannot be read, which must be an error and not an unknown option.
var models = map[string]bool{
	"e1000": true, "e1000-82540em": true, "e1000-82544gc": true, "e1000-82545em": true, "e1000e": true,
	"i82551": true, "i82557b": true, "i82559er": true, "ne2k_isa": true, "ne2k_pci": true, "pcnet": true,
	"rtl8139": true, "virtio": true, "vmxnet3": true,
}

// container reads what only a container's card has.
func (n *NIC) container() (err error) {
	var ok bool
	if n.Name, ok = n.options.Get("name"); !ok {
		return fmt.Errorf("no name: give one like eth0")
	}
	if s, ok := n.options.Get("hwaddr"); ok {
		if n.MAC, err = netplan.ParseMAC(s); err != nil {
			return err
		}
	}
	n.IPConfig, err = readIPConfig(n.options)
	return err
}

// Option gives an option as it stands in the string.
func (n NIC) Option(key string) (string, bool) { return n.options.Get(key) }

// With gives the NIC with one option set, everything else kept. "model" and
// "macaddr" work however the string spells them; a container's MAC is "hwaddr".
func (n NIC) With(key, value string) (NIC, error) {
	if strings.TrimSpace(value) == "" || strings.ContainsAny(value, ",=\n\r") {
		return NIC{}, fmt.Errorf("%s is no value for %s", netplan.Quote(value), key)
	}
	options := n.options
	spelt := ""
	if n.Kind != LXC {
		spelt, _ = n.modelKey()
	}
	switch {
	case key == "model" && spelt != "":
		mac, _ := options.Get(spelt)
		options = options.renamed(spelt, value, mac)
	case key == "model" && options.has(""):
		options = options.With("", value)
	case key == "macaddr" && spelt != "":
		options = options.With(spelt, value)
	default:
		options = options.With(key, value)
	}
	// From its text, so that it is what a server would read.
	return ParseNIC(n.Kind, options.String())
}

// Without gives the NIC without an option, everything else kept.
func (n NIC) Without(key string) (NIC, error) { return readNIC(n.Kind, n.options.Without(key)) }

// String gives the property string: what was parsed where nothing was changed.
func (n NIC) String() string { return n.options.String() }

// Equal says whether both have the same property string.
func (n NIC) Equal(o NIC) bool { return n.Kind == o.Kind && n.String() == o.String() }
