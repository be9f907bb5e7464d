//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"homeward/netplan"
)

// The values of --routes.
const (
	routesCheck  = "check"
	routesManage = "manage"
)

// The values of --log-format.
const (
	logText = "text"
	logJSON = "json"
)

// checker gathers what is wrong with a command line.
type checker struct{ faults []netplan.Fault }

func (c *checker) fault(name, format string, args ...any) {
	c.faults = append(c.faults, netplan.Fault{Path: "--" + name, Message: fmt.Sprintf(format, args...)})
}

// take keeps v, or the fault that err is.
func take[T any](c *checker, name string, v T, err error) T {
	if err != nil {
		c.fault(name, "%v", err)
	}
	return v
}

// parse reads the flags and refuses words that are none. done is true when there
// is nothing more to do; then code is the exit code.
func parse(f *flag.FlagSet, args []string, out, errs io.Writer) (code int, done bool) {
	f.SetOutput(io.Discard)
	err := f.Parse(args)
	if err == nil && f.NArg() > 0 {
		err = fmt.Errorf("unexpected word %s", netplan.Quote(f.Arg(0)))
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, "Usage: homeward-agent %s [FLAGS]\n\n", f.Name())
		f.SetOutput(out)
		f.PrintDefaults()
		return exitDone, true
	case err != nil:
		fmt.Fprintf(errs, "homeward-agent %s: %v\n", f.Name(), err)
		return exitUsage, true
	}
	return exitDone, false
}

// report prints all faults at once and says whether there are any.
func (c *checker) report(name string, errs io.Writer) bool {
	for _, f := range c.faults {
		fmt.Fprintf(errs, "homeward-agent %s: %s\n", name, f.Error())
	}
	return len(c.faults) > 0
}

// listen reads the addresses to serve at: none for "" and "0".
func (c *checker) listen(s string) []netip.AddrPort {
	if s == "" || s == "0" {
		return nil
	}
	var out []netip.AddrPort
	for _, part := range strings.Split(s, ",") {
		host, port, err := net.SplitHostPort(strings.TrimSpace(part))
		if err != nil {
			c.fault("listen", "%s is not an address and a port: give it like 127.0.0.1:%d", netplan.Quote(part), netplan.AgentPort)
			continue
		}
		addr, err := netip.ParseAddr(host)
		n, portErr := strconv.ParseUint(port, 10, 16)
		switch {
		case err != nil:
			c.fault("listen", "%s is not an IP address", netplan.Quote(host))
		case portErr != nil || n == 0:
			c.fault("listen", "%s is not a port: give 1 to 65535", netplan.Quote(port))
		default:
			out = append(out, netip.AddrPortFrom(addr, uint16(n)))
		}
	}
	return out
}

// set reads a list of ranges, as the merged set of their addresses.
func (c *checker) set(name, s string) netplan.AddressSet {
	var out netplan.AddressSet
	for _, part := range strings.Split(s, ",") {
		r, err := netplan.ParseRange(part)
		if err != nil {
			c.fault(name, "%v", err)
			continue
		}
		out = append(out, r)
	}
	return out.Merged()
}

// oneOf refuses a value that is none of the allowed ones.
func (c *checker) oneOf(name, v string, allowed ...string) {
	for _, a := range allowed {
		if v == a {
			return
		}
	}
	c.fault(name, "%s is none of %s", netplan.Quote(v), strings.Join(allowed, ", "))
}

// resync reads how long the agent goes without a pass.
func (c *checker) resync(d time.Duration) time.Duration {
	const least, most = time.Second, time.Hour
	if d < least || d > most {
		c.fault("resync", "%s is out of bounds: give %s to %s", d, least, most)
	}
	return d
}
