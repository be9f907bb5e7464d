package netplan

import (
	"encoding/json"
	"net/netip"
)

// A script asks for .ingress.floating whether or not it is known already: on OpenStack
// the key is always there, elsewhere never.

// portAddresses are the keys of a reserved port.
type portAddresses struct {
	Fixed    *netip.Addr `json:"fixed,omitempty"`
	Floating *netip.Addr `json:"floating,omitempty"`
}

func portKeys(port bool, fixed, floating netip.Addr) portAddresses {
	if !port {
		return portAddresses{}
	}
	return portAddresses{&fixed, &floating}
}

// addresses gives what was read, and whether there was a port.
func (k portAddresses) addresses() (port bool, fixed, floating netip.Addr) {
	if k.Fixed != nil {
		fixed = *k.Fixed
	}
	if k.Floating != nil {
		floating = *k.Floating
	}
	return k.Fixed != nil || k.Floating != nil, fixed, floating
}

// Both types without their methods, so that encoding does not come back here.
type (
	plainKubeAPI KubeAPI
	plainIngress Ingress
)

type kubeAPIKeys struct {
	plainKubeAPI
	portAddresses
}

type ingressKeys struct {
	plainIngress
	portAddresses
}

// MarshalJSON implements json.Marshaler.
func (k KubeAPI) MarshalJSON() ([]byte, error) {
	return json.Marshal(kubeAPIKeys{plainKubeAPI(k), portKeys(k.Port, k.Fixed, k.Floating)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (k *KubeAPI) UnmarshalJSON(text []byte) error {
	var keys kubeAPIKeys
	if err := json.Unmarshal(text, &keys); err != nil {
		return err
	}
	*k = KubeAPI(keys.plainKubeAPI)
	k.Port, k.Fixed, k.Floating = keys.addresses()
	return nil
}

// MarshalJSON implements json.Marshaler.
func (i Ingress) MarshalJSON() ([]byte, error) {
	return json.Marshal(ingressKeys{plainIngress(i), portKeys(i.Port, i.Fixed, i.Floating)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *Ingress) UnmarshalJSON(text []byte) error {
	var keys ingressKeys
	if err := json.Unmarshal(text, &keys); err != nil {
		return err
	}
	*i = Ingress(keys.plainIngress)
	i.Port, i.Fixed, i.Floating = keys.addresses()
	return nil
}
