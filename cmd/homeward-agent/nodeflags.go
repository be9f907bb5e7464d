//go:build linux

package main

import (
	"flag"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"homeward/agent/returnpath"
	"homeward/netplan"
)

// nodeOptions is the checked command line of `node`.
type nodeOptions struct {
	settings     returnpath.Settings
	listen       []netip.AddrPort
	resync       time.Duration
	once, dryRun bool
	logFormat    string
}

// nodeFlags are the flags of `node` as they were given.
type nodeFlags struct {
	mac, destinations, cidr, gateway, vip string
	mark, mask                            string
	table, priority                       uint64
	routes, listen, logFormat             string
	resync                                time.Duration
	preferMain, once, dryRun              bool
}

func (n *nodeFlags) define(f *flag.FlagSet) {
	f.StringVar(&n.mac, "external-mac", "", "`MAC` of the external NIC")
	f.StringVar(&n.destinations, "destinations", "", "`RANGES` whose connections are marked: a-b, an address, or a network; comma separated")
	f.StringVar(&n.cidr, "cidr", "", "external `NETWORK`")
	f.StringVar(&n.gateway, "gateway", "", "`ADDRESS` of the external router; outside of --cidr it is reached on the link")
	f.StringVar(&n.vip, "vip", "", "`ADDRESS` of the Kubernetes API on the external NIC, if it is there")
	f.StringVar(&n.mark, "mark", netplan.DefaultMark.String(), "`BIT` that marks connections and packets")
	f.StringVar(&n.mask, "mask", netplan.DefaultMask.String(), "`BITS` that are compared")
	f.Uint64Var(&n.table, "table", uint64(netplan.DefaultTable), "routing `TABLE` for replies")
	f.Uint64Var(&n.priority, "priority", uint64(netplan.PrioritiesAt(netplan.DefaultPriority).Mark), "`PRIORITY` of the mark's rule; the VIP's is one less, that of --prefer-main two less, those that fail closed are 9 and 10 more")
	f.StringVar(&n.routes, "routes", routesCheck, "`WHO` owns rules and routes: check (someone else, like Talos) or manage (this agent)")
	f.BoolVar(&n.preferMain, "prefer-main", false, "let marked packets look into the main table first, without its default routes: cures strict reverse-path filters that use the mark (rp_filter=1 with src_valid_mark=1). It costs this: a client of a network that the main table knows, like the private one, is answered by that link even when its request came in by the external router. Only with --routes=manage")
	f.StringVar(&n.listen, "listen", "127.0.0.1:"+strconv.Itoa(netplan.AgentPort), "`ADDRESSES` for health, state and metrics, comma separated; 0 or empty for none")
	f.DurationVar(&n.resync, "resync", time.Minute, "longest `TIME` between two looks at the node")
	f.BoolVar(&n.once, "once", false, "bring the node to its state once, and end")
	f.BoolVar(&n.dryRun, "dry-run", false, "print the steps that are to be done, and end")
	f.StringVar(&n.logFormat, "log-format", logText, "`FORMAT` of the log: text or json")
}

// readNodeFlags reads and checks the command line of `node`; every fault is
// printed. done is true when there is nothing more to do.
func readNodeFlags(args []string, out, errs io.Writer) (o nodeOptions, code int, done bool) {
	var n nodeFlags
	f := flag.NewFlagSet("node", flag.ContinueOnError)
	n.define(f)
	if code, done := parse(f, args, out, errs); done {
		return nodeOptions{}, code, true
	}
	var c checker
	o = n.check(&c)
	if c.report("node", errs) {
		return nodeOptions{}, exitUsage, true
	}
	return o, exitDone, false
}

// check turns the flags into options, gathering faults.
func (n *nodeFlags) check(c *checker) nodeOptions {
	c.oneOf("routes", n.routes, routesCheck, routesManage)
	c.oneOf("log-format", n.logFormat, logText, logJSON)
	if n.once && n.dryRun {
		c.fault("dry-run", "does nothing, and --once does something: give one of them")
	}
	if n.preferMain && n.routes != routesManage {
		c.fault("prefer-main", "needs its own rule, and with --routes=check someone else owns the rules: give --routes=manage, or set rp_filter=2 instead")
	}
	s := returnpath.Settings{
		ExternalMAC:  n.checkMAC(c),
		Destinations: n.checkDestinations(c),
		CIDR:         n.checkCIDR(c),
		Table:        n.checkTable(c),
		Priorities:   n.checkPriority(c),
		Manage:       n.routes == routesManage,
		PreferMain:   n.preferMain,
	}
	s.Mark, s.Mask = n.checkMark(c)
	n.checkAddresses(c, &s)
	return nodeOptions{
		settings: s, listen: c.listen(n.listen), resync: c.resync(n.resync),
		once: n.once, dryRun: n.dryRun, logFormat: n.logFormat,
	}
}

func (n *nodeFlags) checkMAC(c *checker) netplan.MAC {
	if n.mac == "" {
		c.fault("external-mac", "is missing: give the MAC of the external NIC")
		return netplan.MAC{}
	}
	mac, err := netplan.ParseMAC(n.mac)
	if err == nil && (mac.IsZero() || mac.IsMulticast()) {
		c.fault("external-mac", "%s is no NIC's address", mac)
	}
	return take(c, "external-mac", mac, err)
}

func (n *nodeFlags) checkDestinations(c *checker) netplan.AddressSet {
	if strings.TrimSpace(n.destinations) == "" {
		c.fault("destinations", "is missing: give the ranges whose connections are marked")
		return nil
	}
	return c.set("destinations", n.destinations)
}

func (n *nodeFlags) checkCIDR(c *checker) netip.Prefix {
	if n.cidr == "" {
		c.fault("cidr", "is missing: give the external network")
		return netip.Prefix{}
	}
	p, err := netplan.ParsePrefix(n.cidr)
	switch {
	case err != nil:
		c.fault("cidr", "%v", err)
		return netip.Prefix{}
	case p != p.Masked():
		c.fault("cidr", "%s has host bits set: give %s", p, p.Masked())
	case p.Bits() == 0:
		c.fault("cidr", "%s is every network", p)
	}
	return p
}

func (n *nodeFlags) checkMark(c *checker) (netplan.Mark, netplan.Mask) {
	mark, err := netplan.ParseMark(n.mark)
	mark = take(c, "mark", mark, err)
	mask, maskErr := netplan.ParseMask(n.mask)
	mask = take(c, "mask", mask, maskErr)
	if err != nil || maskErr != nil {
		return mark, mask
	}
	switch {
	case mark == 0:
		c.fault("mark", "zero marks nothing: give one bit, like %s", netplan.DefaultMark)
	case uint32(mark)&^uint32(mask) != 0:
		c.fault("mask", "%s does not cover the mark %s", mask, mark)
	}
	return mark, mask
}

func (n *nodeFlags) checkTable(c *checker) netplan.TableID {
	const kernelsFirst, kernelsLast, most = 253, 255, 1<<32 - 1
	if n.table == 0 || n.table > most || n.table >= kernelsFirst && n.table <= kernelsLast {
		c.fault("table", "%d is the kernel's own or none: give a free one, like %d", n.table, netplan.DefaultTable)
	}
	return netplan.TableID(n.table)
}

func (n *nodeFlags) checkPriority(c *checker) netplan.Priorities {
	// Ours lie between the kernel's lookup of local (0) and of main (32766).
	const most = 32766 - 11
	least := uint64(2)
	if n.preferMain {
		least++
	}
	if n.priority < least || n.priority > most {
		c.fault("priority", "%d leaves no room for our rules: give %d to %d", n.priority, least, most)
		return netplan.Priorities{}
	}
	return netplan.PrioritiesAt(netplan.Priority(n.priority) - 1)
}

// checkAddresses reads gateway and VIP and holds them against the rest.
func (n *nodeFlags) checkAddresses(c *checker, s *returnpath.Settings) {
	if n.gateway == "" {
		c.fault("gateway", "is missing: give the external router's address")
	} else if a, err := netplan.ParseAddr(n.gateway); err != nil {
		c.fault("gateway", "%v", err)
	} else {
		s.Gateway = a
		switch {
		case s.Destinations.Contains(a):
			c.fault("gateway", "%s is among the destinations: traffic to the router itself would be marked", a)
		case s.CIDR.IsValid() && s.CIDR.Bits() < 31 && (a == s.CIDR.Masked().Addr() || a == netplan.LastAddr(s.CIDR)):
			c.fault("gateway", "%s is the network's or the broadcast address of %s", a, s.CIDR)
		case a.IsUnspecified() || a.IsMulticast() || a.IsLoopback():
			c.fault("gateway", "%s is no router's address", a)
		}
	}
	if n.vip == "" {
		return
	}
	a, err := netplan.ParseAddr(n.vip)
	if s.VIP = take(c, "vip", a, err); err == nil && a == s.Gateway {
		c.fault("vip", "%s is the gateway", a)
	}
}
