package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
)

// MaxTargets is how many targets one run takes.
const MaxTargets = 2000

// Endpoint is a target as it was written: a name or an address, and a port.
type Endpoint struct {
	// Text is what was given.
	Text string
	// Host is a name or an address, without brackets.
	Host string
	Port uint16
}

// Target is an endpoint whose name has been looked up.
type Target struct {
	// Name is the endpoint's text, and unique.
	Name string
	// Host is the endpoint's name or address, for TLS and HTTP.
	Host string
	// Address is what is probed; never an IPv4 address in IPv6 form.
	Address netip.AddrPort
}

// ParseEndpoint reads ADDRESS:PORT, NAME:PORT or [IPv6]:PORT.
func ParseEndpoint(text string) (Endpoint, error) {
	host, port, err := splitHostPort(text)
	if err != nil {
		return Endpoint{}, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return Endpoint{}, fmt.Errorf("%q: %q is no port: give 1 to 65535", text, port)
	}
	e := Endpoint{Text: text, Host: host, Port: uint16(number)}
	address, err := netip.ParseAddr(host)
	switch {
	case err == nil:
		return e, checkAddress(text, address.Unmap())
	case strings.Contains(host, ":"), numeric(host):
		return Endpoint{}, fmt.Errorf("%q: %q is no address", text, host)
	case !nameLike(host):
		return Endpoint{}, fmt.Errorf("%q: %q is neither a name nor an address", text, host)
	}
	return e, nil
}

func splitHostPort(text string) (host, port string, err error) {
	if strings.Contains(text, "://") {
		return "", "", fmt.Errorf("%q is a URL: give ADDRESS:PORT, and --http or --https with --path", text)
	}
	at := strings.LastIndexByte(text, ':')
	inside, bracketed := strings.CutPrefix(text, "[")
	if bracketed {
		end := strings.IndexByte(inside, ']')
		if end < 0 {
			return "", "", fmt.Errorf("%q has no closing bracket", text)
		}
		host, port = inside[:end], inside[end+1:]
		if !strings.Contains(host, ":") {
			return "", "", fmt.Errorf("%q: only IPv6 addresses stand in brackets", text)
		}
		if port, bracketed = strings.CutPrefix(port, ":"); !bracketed {
			return "", "", fmt.Errorf("%q has no port: give [%s]:PORT", text, host)
		}
		return host, port, nil
	}
	if at < 0 {
		return "", "", fmt.Errorf("%q has no port: give ADDRESS:PORT, like 203.0.113.75:443", text)
	}
	host, port = text[:at], text[at+1:]
	if strings.Contains(host, ":") {
		return "", "", fmt.Errorf("%q: put an IPv6 address in brackets, like [2001:db8::1]:443", text)
	}
	if host == "" {
		return "", "", fmt.Errorf("%q has no address before its port", text)
	}
	return host, port, nil
}

// numeric says that a host can only be meant as an IPv4 address.
func numeric(host string) bool {
	return strings.Trim(host, "0123456789.") == ""
}

func nameLike(host string) bool {
	if len(host) > 253 {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for _, r := range label {
			if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", r) {
				return false
			}
		}
	}
	return true
}

// checkAddress refuses what no server can be reached at.
func checkAddress(text string, a netip.Addr) error {
	switch {
	case a.IsUnspecified():
		return fmt.Errorf("%q: %s is no destination: it would reach this machine", text, a)
	case a.IsMulticast(), a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return fmt.Errorf("%q: %s is not one machine's address", text, a)
	case a.Is6() && a.IsLinkLocalUnicast() && a.Zone() == "":
		return fmt.Errorf("%q: a link-local address needs its interface, like [%s%%eth0]", text, a)
	}
	return nil
}

// ParseEndpoints reads all targets of a command line. The error names every
// mistake.
func ParseEndpoints(texts []string) ([]Endpoint, error) {
	if len(texts) == 0 {
		return nil, errors.New("no target: give ADDRESS:PORT, like 203.0.113.75:443")
	}
	if len(texts) > MaxTargets {
		return nil, fmt.Errorf("%d targets are more than one run takes: give at most %d", len(texts), MaxTargets)
	}
	var errs []error
	var list []Endpoint
	seen := map[string]string{}
	for _, text := range texts {
		e, err := ParseEndpoint(text)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if first, twice := seen[e.key()]; twice {
			errs = append(errs, fmt.Errorf("%q is given twice (first as %q)", text, first))
			continue
		}
		seen[e.key()] = text
		list = append(list, e)
	}
	return list, errors.Join(errs...)
}

// key is equal for two ways to write the same endpoint.
func (e Endpoint) key() string {
	if a, err := netip.ParseAddr(e.Host); err == nil {
		return netip.AddrPortFrom(a.Unmap(), e.Port).String()
	}
	return fmt.Sprintf("%s:%d", strings.ToLower(strings.TrimSuffix(e.Host, ".")), e.Port)
}

// Lookup gives the addresses of a name, as net.Resolver.LookupNetIP does. It is
// called concurrently.
type Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// Resolve looks each name up, once. Of several addresses the first IPv4 one is
// taken, or else the first. The error names every name without an address.
func Resolve(ctx context.Context, lookup Lookup, endpoints []Endpoint) ([]Target, error) {
	const atOnce = 16
	errs := make([]error, len(endpoints))
	targets := make([]Target, len(endpoints))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, e := range endpoints {
		group.Go(func() error {
			address, err := netip.ParseAddr(e.Host)
			if err != nil {
				address, err = lookUp(ctx, lookup, e)
			}
			targets[i] = Target{Name: e.Text, Host: e.Host, Address: netip.AddrPortFrom(address.Unmap(), e.Port)}
			errs[i] = err
			return nil // every name's error is told
		})
	}
	return targets, errors.Join(group.Wait(), errors.Join(errs...))
}

func lookUp(ctx context.Context, lookup Lookup, e Endpoint) (netip.Addr, error) {
	list, err := lookup(ctx, "ip", e.Host)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("looking up %q: %w", e.Text, err)
	}
	if len(list) == 0 {
		return netip.Addr{}, fmt.Errorf("looking up %q: no address", e.Text)
	}
	at := max(0, slices.IndexFunc(list, func(a netip.Addr) bool { return a.Unmap().Is4() }))
	address := list[at].Unmap()
	return address, checkAddress(e.Text, address)
}
