package inventory

import (
	"fmt"
	"net/netip"

	"homeward/netplan"
)

// IPConfig is what a guest is told about its address: QEMU in ipconfigN, a
// container in its netN. IPv6 is not read. The zero value says nothing.
type IPConfig struct {
	// Address with its prefix length; zero when there is no static one.
	Address netip.Prefix
	// DHCP says that it asks a server.
	DHCP bool
	// Gateway may be zero.
	Gateway netip.Addr
}

// ParseIPConfig reads the value of an ipconfigN.
func ParseIPConfig(s string) (IPConfig, error) {
	options, err := ParseProperties(s)
	if err != nil {
		return IPConfig{}, err
	}
	return readIPConfig(options)
}

func readIPConfig(options Properties) (c IPConfig, err error) {
	switch ip, _ := options.Get("ip"); ip {
	case "", "manual":
	case "dhcp":
		c.DHCP = true
	default:
		c.Address, err = netip.ParsePrefix(ip)
		if err != nil || !c.Address.Addr().Is4() {
			return IPConfig{}, fmt.Errorf("ip=%s is no IPv4 address with its prefix length", netplan.Quote(ip))
		}
	}
	if gw, ok := options.Get("gw"); ok {
		c.Gateway, err = netip.ParseAddr(gw)
		if err != nil || !c.Gateway.Is4() {
			return IPConfig{}, fmt.Errorf("gw=%s is no IPv4 address", netplan.Quote(gw))
		}
	}
	return c, nil
}
