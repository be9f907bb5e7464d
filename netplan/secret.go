package netplan

import (
	"fmt"
	"log/slog"
)

// concealed is what stands for a secret wherever it is printed.
const concealed = "[secret]"

// Secret is a text that no way of printing, logging or encoding gives away. The
// zero Secret is empty.
type Secret struct {
	// A pointer, so that a struct around it that is printed field by field, past
	// every method, shows an address.
	text *string
}

// NewSecret conceals a text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

// Reveal gives the text, for where it is used and nowhere else.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Empty says that there is none.
func (s Secret) Empty() bool { return s.text == nil }

// String never gives the text; nor do the methods below.
func (s Secret) String() string { return concealed }

// GoString is for %#v.
func (s Secret) GoString() string { return concealed }

// Format is for every verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, concealed) }

// LogValue is for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(concealed) }

// MarshalText is for YAML and map keys.
func (s Secret) MarshalText() ([]byte, error) { return []byte(concealed), nil }

// MarshalJSON is for JSON.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + concealed + `"`), nil }

// ProxmoxAccess is how the Proxmox API is reached, and with which token.
type ProxmoxAccess struct {
	ProxmoxSpec
	// TokenID is user@realm!name.
	TokenID string
	// TokenSecret is the UUID that the server gave with it.
	TokenSecret Secret
}

// OpenStackAccess is how Keystone is reached, and with which application credential.
type OpenStackAccess struct {
	// URL and Region are the plan's; either may be empty.
	URL, Region string
	// CredentialID and CredentialSecret are both empty where OpenStack's own sources
	// count: clouds.yaml and the environment's OS_*.
	CredentialID     string
	CredentialSecret Secret
}
