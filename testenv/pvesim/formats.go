package pvesim

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// formats are the named formats that are checked; those of unverified are not.
var formats = map[string]func(string) string{
	"IPorCIDR":              verifyCIDR,
	"IPorCIDRorAlias":       verifyMember,
	"ip":                    address("a valid IP address", netip.Addr.IsValid),
	"ipv4":                  address("a valid IPv4 address", netip.Addr.Is4),
	"ipv6":                  address("a valid IPv6 address", netip.Addr.Is6),
	"mac-addr":              matches(`(?i)[a-f0-9][02468ace](?::[a-f0-9]{2}){5}`, "value does not look like a valid unicast MAC address"),
	"dns-name":              matches(`(?:[a-zA-Z0-9](?:[a-zA-Z0-9\-]*[a-zA-Z0-9])?\.)*[a-zA-Z0-9](?:[a-zA-Z0-9\-]*[a-zA-Z0-9])?`, "value does not look like a valid DNS name"),
	"pve-node":              matches(`[a-zA-Z0-9](?:[a-zA-Z0-9\-]*[a-zA-Z0-9])?`, "value does not look like a valid node name"),
	"pve-vmid":              matches(`[1-9][0-9]{2,8}`, "value does not look like a valid VM ID"),
	"pve-configid":          matches(`(?i)[a-z][a-z0-9_-]+`, "invalid configuration ID"),
	"pve-configid-list":     each(matches(`(?i)[a-z][a-z0-9_-]+`, "invalid configuration ID")),
	"pve-vmid-list":         each(matches(`[1-9][0-9]{2,8}`, "value does not look like a valid VM ID")),
	"pve-node-list":         each(matches(`[a-zA-Z0-9](?:[a-zA-Z0-9\-]*[a-zA-Z0-9])?`, "value does not look like a valid node name")),
	"pve-iface":             matches(`(?i)[a-z][a-z0-9_]{1,20}([:\.]\d+)?`, "value does not look like a valid network interface name"),
	"pve-poolid":            verifyPool,
	"pve-bridge-id":         matches(`[-_.\w\d]+`, "value does not look like a valid bridge name"),
	"pve-ipv4-config":       verifyIPConfig4,
	"pve-qm-ipconfig":       verifyIPConfig,
	"pve-fw-addr-spec":      verifySource,
	"pve-fw-dport-spec":     verifyPorts,
	"pve-fw-sport-spec":     verifyPorts,
	"pve-fw-protocol-spec":  matches(`tcp|udp|udplite|icmp|icmpv6|ipv6-icmp|igmp|esp|ah|gre|sctp|vrrp|dccp|ospf|\d{1,3}`, "unknown protocol"),
	"pve-fw-icmp-type-spec": matches(`[a-z0-9/-]*`, "invalid icmp-type value"),
	"pve-sdn-subnet-id":     verifySubnet,
	"pve-sdn-dhcp-range":    matches(`start-address=[0-9a-fA-F.:]+,end-address=[0-9a-fA-F.:]+`, "not a DHCP range"),
	"pve-tag-list":          each(matches(`(?i)[a-z0-9_][a-z0-9_\-+.]*`, "invalid characters in tag")),
}

// unverified are formats of parameters whose values do not matter here.
var unverified = []string{"address-list", "dns-name-list", "ip-list", "lxc-ip-with-ll-iface-list", "pve-cpuset", "pve-ct-timezone",
	"pve-fw-conntrack-helper", "pve-hotplug-features", "pve-ipv6-config", "pve-qemu-sev-fmt", "pve-qemu-tdx-fmt", "pve-qm-boot",
	"pve-qm-bootdisk", "pve-qm-cicustom", "pve-qm-hostpci", "pve-qm-ide", "pve-qm-rng", "pve-qm-smbios1", "pve-qm-watchdog",
	"pve-sdn-bgp-rt-list", "pve-sdn-fabric-id", "pve-startup-order", "pve-storage-id", "pve-storage-id-list", "pve-vm-cpu-conf",
	"pve-volume-id", "urlencoded"}

// verifyFormat says what is wrong with a value, or nothing.
func verifyFormat(format, value string) string {
	if f := formats[format]; f != nil {
		return f(value)
	}
	return ""
}

func matches(pattern, fault string) func(string) string {
	re := regexp.MustCompile("^(?:" + pattern + ")$")
	return func(v string) string {
		if re.MatchString(v) {
			return ""
		}
		return fault
	}
}

// each checks every word of a list, which commas, semicolons, zeros or spaces part.
func each(f func(string) string) func(string) string {
	return func(v string) string {
		for _, word := range splitList(v) {
			if fault := f(word); fault != "" {
				return fault
			}
		}
		return ""
	}
}

func splitList(v string) []string {
	return strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(",; \t\n\x00", r) })
}

func address(what string, ok func(netip.Addr) bool) func(string) string {
	return func(v string) string {
		if a, err := netip.ParseAddr(v); err != nil || !ok(a) {
			return "value does not look like " + what
		}
		return ""
	}
}

func verifyPool(v string) string {
	parts := strings.Split(v, "/")
	if len(parts) > 3 {
		return "pool name '" + v + "' nested too deeply (max levels = 3)"
	}
	for _, p := range parts {
		if p == "" || strings.Trim(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_") != "" {
			return "pool name '" + v + "' contains invalid characters"
		}
	}
	return ""
}

// verifySubnet checks a network, or a subnet's id: ZONE-NETWORK-LENGTH.
func verifySubnet(v string) string {
	if parts := strings.SplitN(v, "-", 3); len(parts) == 3 {
		v = parts[1] + "/" + parts[2]
	}
	if p, err := netip.ParsePrefix(v); err != nil || p != p.Masked() {
		return "value does not look like a valid network"
	}
	return ""
}

func verifyIPConfig4(v string) string {
	if v == "dhcp" || v == "manual" {
		return ""
	}
	if p, err := netip.ParsePrefix(v); err != nil || !p.Addr().Is4() {
		return "value does not look like a valid ipv4 network configuration"
	}
	return ""
}

// verifyIPConfig checks cloud-init's ipconfigN.
func verifyIPConfig(v string) string {
	for _, part := range strings.Split(v, ",") {
		key, value, _ := strings.Cut(part, "=")
		fault := ""
		switch key {
		case "ip":
			if value != "dhcp" {
				fault = verifyIPConfig4(value)
			}
		case "gw":
			fault = address("a valid IPv4 address", netip.Addr.Is4)(value)
		case "ip6", "gw6":
		default:
			fault = "property is not defined in schema and the schema does not allow additional properties"
		}
		if fault != "" {
			return "format error\n" + key + ": " + fault + "\n"
		}
	}
	return ""
}

// verifyPorts checks numbers, names and ranges of ports.
func verifyPorts(v string) string {
	for _, part := range strings.Split(v, ",") {
		for _, port := range strings.SplitN(part, ":", 2) {
			if n, err := strconv.Atoi(port); err == nil && (n < 0 || n > 65535) {
				return "invalid port '" + port + "'"
			} else if err != nil && (port == "" || strings.Trim(port, "abcdefghijklmnopqrstuvwxyz0123456789-") != "") {
				return "invalid port '" + port + "'"
			}
		}
	}
	return ""
}
