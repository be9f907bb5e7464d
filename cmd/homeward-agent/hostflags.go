//go:build linux

package main

import (
	"flag"
	"io"
	"net/netip"
	"time"

	"homeward/agent/kernel"
	"homeward/agent/segment"
	"homeward/netplan"
)

// The values of host's --output.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputJSONL = "jsonl"
)

// hostOptions is the checked command line of `host`.
type hostOptions struct {
	leg       kernel.LegConfig
	planFile  string
	addresses netplan.AddressSet
	gateway   netip.Addr
	witnesses []netip.Addr
	pve       string
	every     time.Duration
	once      bool
	check     bool
	dhcp      bool
	output    string
	listen    []netip.AddrPort
	logFormat string
}

// hostFlags are the flags of `host` as they were given.
type hostFlags struct {
	link, bridge          string
	vlan                  uint
	plan, addresses       string
	gateway, witnesses    string
	pve                   string
	every                 time.Duration
	once, check, dhcp     bool
	output, listen, logAs string
}

func (h *hostFlags) define(f *flag.FlagSet) {
	f.StringVar(&h.link, "interface", "", "`NAME` of an interface that carries the segment untagged; needs no address")
	f.StringVar(&h.bridge, "bridge", "", "`NAME` of the bridge, instead of --interface; by default the plan's")
	f.UintVar(&h.vlan, "vlan", 0, "`ID` of the segment's VLAN on --bridge; 0 is the bridge's untagged network")
	f.StringVar(&h.plan, "plan", "", "`FILE` plan.json of homeward generate: which addresses, and whose the MACs are")
	f.StringVar(&h.addresses, "addresses", "", "`RANGES` to ask for besides: a-b, an address, or a network; comma separated")
	f.StringVar(&h.gateway, "gateway", "", "`ADDRESS` of the segment's router, whose answer proves the path; by default the plan's")
	f.StringVar(&h.witnesses, "witnesses", "", "further `ADDRESSES` that somebody is known to have, comma separated: an answer proves the path too")
	f.StringVar(&h.pve, "pve", "", "`DIRECTORY` to name other guests' MACs from, and to learn what other clusters have reserved: /etc/pve on a Proxmox host")
	f.DurationVar(&h.every, "every", segment.DefaultEvery, "`TIME` between two probes for an address: the bound of a take-over")
	f.BoolVar(&h.once, "once", false, "probe once, print who answers, and end; exit 4 when the segment cannot be asked")
	f.BoolVar(&h.check, "check", false, "as --once; exit 3 when a stranger answers, 4 when no known address does or the segment cannot be asked")
	f.BoolVar(&h.dhcp, "dhcp-check", false, "ask the segment's DHCP servers what they offer, and end; exit 1 for an address of the plan, 4 when no known address answers ARP or the segment cannot be asked")
	f.StringVar(&h.output, "output", outputTable, "`FORMAT`: table, json (one document, not for a watch), or jsonl (one JSON object a line)")
	f.StringVar(&h.output, "o", outputTable, "`FORMAT`: short for --output")
	f.StringVar(&h.listen, "listen", "", "`ADDRESSES` for metrics while it watches, comma separated; empty for none")
	f.StringVar(&h.logAs, "log-format", logText, "`FORMAT` of the log: text or json")
}

// readHostFlags reads and checks the command line of `host`; every fault is
// printed. done is true when there is nothing more to do.
func readHostFlags(args []string, out, errs io.Writer) (o hostOptions, code int, done bool) {
	var h hostFlags
	f := flag.NewFlagSet("host", flag.ContinueOnError)
	h.define(f)
	if code, done := parse(f, args, out, errs); done {
		return hostOptions{}, code, true
	}
	var c checker
	o = h.checked(&c)
	if c.report("host", errs) {
		return hostOptions{}, exitUsage, true
	}
	return o, exitDone, false
}

// checked turns the flags into options, gathering faults.
func (h *hostFlags) checked(c *checker) hostOptions {
	c.oneOf("output", h.output, outputTable, outputJSON, outputJSONL)
	c.oneOf("log-format", h.logAs, logText, logJSON)
	h.checkPlace(c)
	if h.dhcp && (h.once || h.check) {
		c.fault("dhcp-check", "and --check or --once are two questions: ask one after the other")
	}
	if h.output == outputJSON && !h.once && !h.check && !h.dhcp {
		c.fault("output", "json is one document, and a watch has no end: give jsonl")
	}
	const least, most = 700 * time.Millisecond, time.Hour
	if h.every < least || h.every > most {
		c.fault("every", "%s is out of bounds: give %s to %s", h.every, least, most)
	}
	if h.plan == "" && h.addresses == "" && !h.dhcp {
		c.fault("plan", "is missing, and so is --addresses: say which addresses to ask for")
	}
	o := hostOptions{
		leg:      kernel.LegConfig{Interface: h.link, Bridge: h.bridge, VLAN: netplan.VLAN(h.vlan)},
		planFile: h.plan, pve: h.pve, every: h.every, once: h.once || h.check, check: h.check, dhcp: h.dhcp,
		output: h.output, listen: c.listen(h.listen), logFormat: h.logAs,
		addresses: c.ranges("addresses", h.addresses), witnesses: c.ranges("witnesses", h.witnesses).Addresses(),
	}
	if h.gateway != "" {
		a, err := netplan.ParseAddr(h.gateway)
		o.gateway = take(c, "gateway", a, err)
	}
	return o
}

// checkPlace holds that the segment is named in one way.
func (h *hostFlags) checkPlace(c *checker) {
	const lastVLAN = 4094
	switch {
	case h.link != "" && (h.bridge != "" || h.vlan != 0):
		c.fault("interface", "and --bridge or --vlan name the segment twice: give one of them")
	case h.link == "" && h.bridge == "" && h.plan == "":
		c.fault("interface", "is missing: give it, or --bridge and --vlan, or a --plan that has them")
	case h.bridge == "" && h.vlan != 0:
		c.fault("vlan", "needs --bridge")
	case h.vlan > lastVLAN:
		c.fault("vlan", "%d is not a VLAN: give 1 to %d, or 0 for untagged", h.vlan, lastVLAN)
	}
}

// ranges reads a list of ranges; none for "". More than can be asked for are
// refused before they are listed one by one.
func (c *checker) ranges(name, s string) (out netplan.AddressSet) {
	if s == "" {
		return nil
	}
	out = c.set(name, s)
	if n := out.Count(); n > segment.MaxAddresses {
		c.fault(name, "%d addresses are more than can be asked for: give at most %d", n, segment.MaxAddresses)
		return nil
	}
	return out
}
