package verify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"

	"homeward/agent/probe"
	"homeward/netplan"
)

// Door is a TLS handshake with an API server. Nothing is sent over it: no token and no
// client certificate.
type Door struct {
	// Name says whose address it is.
	Name string
	// Address is HOST:PORT.
	Address string
	// Planned: it is an endpoint of the plan, else a control plane's own address.
	Planned bool
	// OnLink: it is on a segment of this machine.
	OnLink bool
	// Cause is why there was no handshake; empty where there was one.
	Cause DoorCause
	// Text is the error behind the cause.
	Text string
	// Certificate is what the server showed, and Untrusted why the kubeconfig's
	// authorities do not vouch for it; empty where they do.
	Certificate *x509.Certificate
	Untrusted   string
}

// DoorCause is why there was no handshake.
type DoorCause string

// The causes.
const (
	DoorTimeout DoorCause = "no answer in time"
	DoorRefused DoorCause = "refused"
	DoorNobody  DoorCause = "nobody there has that address"
	DoorNoWay   DoorCause = "no way there from here" // no route, or no such name
	DoorNoTLS   DoorCause = "no TLS"
)

const (
	// doorTimeout is the most that one handshake gets.
	doorTimeout = 5 * time.Second
	// mostDoors bounds the control planes that are asked.
	mostDoors = 16
	// noAuthority is why nobody vouches for a certificate where there is nobody.
	noAuthority = "the kubeconfig names no authority to check it by"
)

// openDoors shakes hands with the plan's endpoints and with the API servers that
// Kubernetes itself names.
func openDoors(ctx context.Context, o Options, s *Snapshot) []Door {
	doors := plannedDoors(s.Plan)
	planned := len(doors)
	for _, a := range apiServers(s.APIEndpoints.Value) {
		if len(doors) < planned+mostDoors {
			doors = append(doors, Door{Name: "an API server", Address: a.String()})
		}
	}
	var list []*Door
	for i := range doors {
		list = append(list, &doors[i])
	}
	each(readers, list, func(d *Door) { d.open(ctx, o) })
	noteNear(doors)
	return doors
}

// noteNear says which doors are on a segment of this machine. Nothing is sent.
func noteNear(doors []Door) {
	settings := probe.Settings{Mode: probe.ModeTCP, Interval: probe.DefaultInterval, Timeout: probe.DefaultTimeout}
	at := map[string][]*Door{}
	for i := range doors {
		d := &doors[i]
		address, err := netip.ParseAddrPort(d.Address)
		if err != nil {
			continue // a name
		}
		if at[d.Address] = append(at[d.Address], d); len(at[d.Address]) == 1 {
			settings.Targets = append(settings.Targets, probe.Target{Name: d.Address, Host: address.Addr().String(), Address: address})
		}
	}
	if len(at) == 0 {
		return
	}
	prober, err := probe.New(settings)
	if err != nil {
		return // it is a hint, and who knocks at services tells of too few files
	}
	for _, name := range prober.OnLink() {
		for _, d := range at[name] {
			d.OnLink = true
		}
	}
}

// plannedDoors are the VIP and, where it is another, the endpoint. Where a reserved
// port has the VIP it is for the machines alone, and the endpoint is the floating IP.
func plannedDoors(p *netplan.Plan) []Door {
	var doors []Door
	if p.KubeAPI.VIP.IsValid() && !p.KubeAPI.Port {
		address := net.JoinHostPort(p.KubeAPI.VIP.String(), strconv.Itoa(netplan.PortKubernetesAPI))
		doors = append(doors, Door{Name: "the API's VIP", Address: address, Planned: true})
	}
	if u, err := url.Parse(p.KubeAPI.Endpoint); err == nil && u.Host != "" && (len(doors) == 0 || doors[0].Address != u.Host) {
		doors = append(doors, Door{Name: "the API's endpoint", Address: u.Host, Planned: true})
	}
	return doors
}

// apiServers are the IPv4 addresses of service kubernetes, each once.
func apiServers(slices []discoveryv1.EndpointSlice) []netip.AddrPort {
	var out []netip.AddrPort
	seen := map[netip.AddrPort]bool{}
	for _, s := range slices {
		for _, e := range s.Endpoints {
			for _, text := range e.Addresses {
				for _, p := range s.Ports {
					a, err := netip.ParseAddr(text)
					if err != nil || !a.Is4() || p.Port == nil || *p.Port < 1 || *p.Port > 65535 {
						continue
					}
					if at := netip.AddrPortFrom(a, uint16(*p.Port)); !seen[at] {
						seen[at] = true
						out = append(out, at)
					}
				}
			}
		}
	}
	return out
}

func (d *Door) open(ctx context.Context, o Options) {
	ctx, cancel := context.WithTimeout(ctx, min(doorTimeout, o.Timeout))
	defer cancel()
	host, _, err := net.SplitHostPort(d.Address)
	if err != nil {
		d.Cause, d.Text = DoorNoWay, err.Error()
		return
	}
	dialer := net.Dialer{}
	raw, err := dialer.DialContext(ctx, "tcp", d.Address)
	if err != nil {
		d.Cause, d.Text = doorCause(err), err.Error()
		return
	}
	// Who it is gets checked below, piece by piece, so that each can be told.
	conn := tls.Client(raw, &tls.Config{ServerName: host, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	defer conn.Close()
	if err := conn.HandshakeContext(ctx); err != nil {
		if d.Cause, d.Text = doorCause(err), err.Error(); d.Cause != DoorTimeout {
			d.Cause = DoorNoTLS
		}
		return
	}
	chain := conn.ConnectionState().PeerCertificates
	if len(chain) == 0 {
		d.Cause, d.Text = DoorNoTLS, "the server showed no certificate"
		return
	}
	d.Certificate, d.Untrusted = chain[0], untrusted(chain, o.Client.Roots(), o.Now())
}

// untrusted is why the roots do not vouch for a chain; the names in it are not looked
// at.
func untrusted(chain []*x509.Certificate, roots *x509.CertPool, now time.Time) string {
	if roots == nil {
		return noAuthority
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	if _, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now}); err != nil {
		return err.Error()
	}
	return ""
}

func doorCause(err error) DoorCause {
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return DoorTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return DoorRefused
	case errors.Is(err, syscall.EHOSTUNREACH):
		// The last router, or this machine on the segment itself, asked by ARP in vain.
		return DoorNobody
	}
	return DoorNoWay
}
