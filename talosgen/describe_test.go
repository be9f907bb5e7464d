package talosgen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config"
	talosconfig "github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/types/network"
)

// describe tells what a configuration means to Talos, read through the interfaces
// that its controllers use, one fact per line.
func describe(cfg config.Provider) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	say("hostname %s", cfg.NetworkHostnameConfig().Hostname())
	for _, a := range cfg.NetworkLinkAliasConfigs() {
		say("alias %s %s", a.Name(), a.LinkSelector())
	}
	for _, l := range cfg.NetworkCommonLinkConfigs() {
		describeLink(l, say)
	}
	for _, d := range cfg.NetworkDHCPConfigs() {
		say("dhcp %s", d.Name())
	}
	for _, a := range cfg.NetworkResolverConfig().Resolvers() {
		say("resolver %s", a)
	}
	for _, v := range cfg.NetworkVirtualIPConfigs() {
		if vip, ok := v.(*network.Layer2VIPConfigV1Alpha1); ok {
			say("vip %s on %s", vip.VIP(), vip.Link())
		}
	}
	for _, r := range cfg.NetworkRoutingRuleConfigs() {
		describeRule(r, say)
	}
	if rules := cfg.NetworkRules(); rules.Rules() != nil || rules.DefaultAction() != 0 {
		say("firewall default %s", rules.DefaultAction())
		for _, r := range rules.Rules() {
			say("firewall %s %v from %v", r.Protocol(), r.PortRanges(), r.Subnets())
		}
	}
	describeKubernetes(cfg, say)
	return out
}

func describeLink(l talosconfig.NetworkCommonLinkConfig, say func(string, ...any)) {
	say("link %s up %t", l.Name(), l.Up().ValueOrZero())
	if mtu, ok := l.MTU().Get(); ok {
		say("mtu %s %d", l.Name(), mtu)
	}
	for _, a := range l.Addresses() {
		say("address %s %s metric %d", l.Name(), a.Address(), a.RoutePriority().ValueOrZero())
	}
	for _, r := range l.Routes() {
		destination := "default"
		if to, ok := r.Destination().Get(); ok {
			destination = to.String()
		}
		if via, ok := r.Gateway().Get(); ok {
			destination += " via " + via.String()
		}
		if table, ok := r.Table().Get(); ok {
			destination += " table " + table.String()
		}
		say("route %s %s", l.Name(), destination)
	}
}

func describeRule(r talosconfig.NetworkRoutingRuleConfig, say func(string, ...any)) {
	selector := fmt.Sprintf("fwmark %#x/%#x", r.FwMark(), r.FwMask())
	if src, ok := r.Src().Get(); ok {
		selector = "from " + src.String()
	}
	action := "lookup " + r.Table().String()
	if r.Action() != 0 {
		action = r.Action().String()
	}
	say("rule %d %s %s", r.Priority(), selector, action)
}

func describeKubernetes(cfg config.Provider, say func(string, ...any)) {
	machine := cfg.RawV1Alpha1().MachineConfig
	say("node subnets %s", strings.Join(machine.MachineKubelet.NodeIP().ValidSubnets(), " "))
	say("machine sans %s", strings.Join(machine.MachineCertSANs, " "))
	for _, key := range slices.Sorted(maps.Keys(machine.MachineNodeLabels)) {
		say("label %s=%s", key, machine.MachineNodeLabels[key])
	}
	for _, pod := range machine.MachinePods {
		say("pod %s", pod.Object["metadata"].(map[string]any)["name"])
	}
	cluster := cfg.RawV1Alpha1().ClusterConfig
	if cluster.APIServerConfig != nil {
		say("api sans %s", strings.Join(cluster.APIServerConfig.CertSANs, " "))
	}
	if cluster.EtcdConfig != nil {
		say("etcd subnets %s", strings.Join(cluster.EtcdConfig.AdvertisedSubnets(), " "))
	}
}
