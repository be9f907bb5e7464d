package kube

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// Options say which cluster is read.
type Options struct {
	// Kubeconfig is a file; empty is what kubectl would take: $KUBECONFIG, the user's
	// own, or the service account of the pod that this runs in.
	Kubeconfig string
	// Context is one of the kubeconfig's; empty is its current one.
	Context   string
	UserAgent string
	// Timeout bounds one request; zero is DefaultTimeout.
	Timeout time.Duration
}

// DefaultTimeout bounds one request.
const DefaultTimeout = 20 * time.Second

// Client reads from one API server. It is safe for concurrent use.
type Client struct {
	base  *url.URL
	http  *http.Client
	roots *x509.CertPool
}

// Open reads the kubeconfig. Nothing is sent. Its errors are the command line's or the
// file's, and hold no secret of it. It is not for concurrent use: client-go's own log is
// the process's, and is silenced.
func Open(o Options) (*Client, error) {
	// What client-go logs there, past every other log, comes back as an error too, and
	// may quote what an exec plugin printed.
	klog.SetLogger(klog.Logger{})
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: o.Kubeconfig}
	if o.Kubeconfig == "" {
		rules = clientcmd.NewDefaultClientConfigLoadingRules()
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.UserAgent = o.UserAgent
	if config.Timeout = o.Timeout; config.Timeout == 0 {
		config.Timeout = DefaultTimeout
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing the connection that the kubeconfig asks for: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	c := &Client{base: base, http: client}
	if tls, err := rest.TLSConfigFor(config); err == nil && tls != nil && !tls.InsecureSkipVerify {
		c.roots = tls.RootCAs
	}
	return c, nil
}

// Server is the API server's address as an operator knows it, without a user or a
// path.
func (c *Client) Server() string {
	return (&url.URL{Scheme: c.base.Scheme, Host: c.base.Host}).String()
}

// Roots are the authorities that the kubeconfig trusts; nil where it names none, or
// trusts everybody.
func (c *Client) Roots() *x509.CertPool { return c.roots }
