package gitops

import (
	"bytes"

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
	PublicIP  string `yaml:"publicIP"`
	PrivateIP string `yaml:"privateIP"`
}

// ArgoCD renders the values of the infrastructure chart. Every key is always
// there, so that new values replace older ones whole: with MetalLB switched off,
// or without a pool, addresses is an empty list, and publicIP and privateIP are
// empty strings because Proxmox has no single address in front of the pool, even
// where ingress.address pins one Service.
func ArgoCD(p *netplan.Plan) ([]byte, error) {
	v := argoValues{
		MetalLB:           argoMetalLB{Enabled: p.ArgoCD.MetalLBEnabled, Addresses: []string{}},
		IngressController: argoIngress{Enabled: p.ArgoCD.IngressEnabled, Class: p.ArgoCD.IngressClass},
	}
	if p.ArgoCD.MetalLBEnabled {
		v.MetalLB.Addresses = poolAddresses(p)
	}
	out, err := encode(v)
	if err != nil {
		return nil, err
	}
	// The reason stands where the reader wonders; the encoder cannot align it.
	const field = `publicIP: ""`
	return bytes.Replace(out, []byte(field), []byte(field+"     # no single VIP on Proxmox"), 1), nil
}
