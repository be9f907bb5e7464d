package gitops

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"homeward/netplan"
)

type argoValues struct {
	MetalLB           argoMetalLB `yaml:"metallb"`
	IngressController argoIngress `yaml:"ingresscontroller"`
}

type argoMetalLB struct {
	Enabled   bool     `yaml:"enabled"`
	Addresses []string `yaml:"addresses"`
}

type argoIngress struct {
	Enabled   bool   `yaml:"enabled"`
	Class     string `yaml:"class"`
	PublicIP  quoted `yaml:"publicIP"`
	PrivateIP quoted `yaml:"privateIP"`
}

// quoted is a text that always stands in quotes: the values are read by templates
// that expect a string there, empty or not.
type quoted string

// MarshalYAML implements yaml.Marshaler.
func (q quoted) MarshalYAML() (any, error) {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: string(q)}, nil
}

// ArgoCD renders the values of the infrastructure chart. Every key is always
// there, so that new values replace older ones whole: with MetalLB switched off,
// or without a pool, addresses is an empty list.
//
// On OpenStack publicIP is the ingress's floating IP and privateIP its fixed one. On
// Proxmox both are empty strings, because there is no single address in front of the
// pool, even where ingress.address pins one Service.
func ArgoCD(p *netplan.Plan) ([]byte, error) {
	if err := p.Complete(); err != nil {
		return nil, err
	}
	v := argoValues{
		MetalLB:           argoMetalLB{Enabled: p.ArgoCD.MetalLBEnabled, Addresses: []string{}},
		IngressController: argoIngress{Enabled: p.ArgoCD.IngressEnabled, Class: p.ArgoCD.IngressClass},
	}
	if p.ArgoCD.MetalLBEnabled {
		v.MetalLB.Addresses = poolAddresses(p)
	}
	if p.OpenStack != nil {
		v.IngressController.PublicIP, v.IngressController.PrivateIP = quoted(p.Ingress.Floating.String()), quoted(p.Ingress.Fixed.String())
	}
	out, err := encode(v)
	if err != nil {
		return nil, err
	}
	return explained(out, p), nil
}

// explained puts the reasons where the reader wonders; the encoder cannot align them.
func explained(text []byte, p *netplan.Plan) []byte {
	note := func(field string, width int, why string) {
		text = bytes.Replace(text, []byte(field+"\n"), fmt.Appendf(nil, "%-*s# %s\n", width, field, why), 1)
	}
	if p.OpenStack == nil {
		const field = `publicIP: ""`
		note(field, len(field)+5, "no single VIP on Proxmox")
		return text
	}
	pool := "- " + strings.Join(poolAddresses(p), "")
	note(pool, len(pool)+5, "the ingress VIP (fixed IP on the tenant network), as a /32")
	public, private := fmt.Sprintf("publicIP: %q", p.Ingress.Floating), fmt.Sprintf("privateIP: %q", p.Ingress.Fixed)
	width := max(len(public), len(private)) + 3
	note(public, width, "the floating IP clients use")
	note(private, width, "the fixed VIP MetalLB announces")
	return text
}
