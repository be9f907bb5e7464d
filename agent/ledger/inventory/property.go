package inventory

import (
	"fmt"
	"slices"
	"strings"

	"homeward/netplan"
)

// Properties is a property string as Proxmox keeps it, "virtio=BC:24:...,bridge=
// vmbr0,tag=30", in its order and with everything in it: String gives back what
// was parsed, byte for byte. It is a value: changing gives another one.
type Properties struct {
	parts []part
}

// part is what stands between two commas. Only key and value are read; text is
// what String gives.
type part struct {
	key, value, text string
}

// maxProperties bounds the length of a property string in bytes: the longest that
// Proxmox makes are a few hundred.
const maxProperties = 16 << 10

// ParseProperties splits a property string. A part without a "=" is the value of
// the default key, as the first part of "virtio,bridge=vmbr0" is. It refuses what
// Proxmox refuses: a key twice, an empty key or value; and overlong strings.
func ParseProperties(s string) (Properties, error) {
	if len(s) > maxProperties {
		return Properties{}, fmt.Errorf("%d bytes are no property string", len(s))
	}
	p := Properties{parts: make([]part, 0, strings.Count(s, ",")+1)}
	for text := range strings.SplitSeq(s, ",") {
		key, value, hasKey := strings.Cut(text, "=")
		blank := strings.TrimSpace(text) == ""
		switch {
		case blank:
			key, value = "", ""
		case !hasKey:
			key, value = "", text
		case key == "" || value == "":
			return Properties{}, fmt.Errorf("%s has no key or no value", netplan.Quote(text))
		case strings.ContainsFunc(key, notOfKey):
			return Properties{}, fmt.Errorf("%s is no option's name", netplan.Quote(key))
		}
		if !blank && p.has(key) {
			return Properties{}, fmt.Errorf("%s is given twice", netplan.Quote(strings.TrimSuffix(key+"="+value, "=")))
		}
		p.parts = append(p.parts, part{key: key, value: value, text: text})
	}
	return p, nil
}

// notOfKey finds what no key has. A key with a blank before it would else be an
// unknown option, and the bridge it names unseen.
func notOfKey(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}

// has says whether key has a value, also that of the default key, "".
func (p Properties) has(key string) bool {
	_, ok := p.Get(key)
	return ok
}

// Get gives the value of a key; the default key is "".
func (p Properties) Get(key string) (string, bool) {
	for _, x := range p.parts {
		if x.key == key && x.value != "" {
			return x.value, true
		}
	}
	return "", false
}

// With gives a copy in which key has this value: where it stood, or at the end.
func (p Properties) With(key, value string) Properties {
	made := part{key: key, value: value, text: key + "=" + value}
	if key == "" {
		made.text = value
	}
	parts := slices.Clone(p.parts)
	if at := slices.IndexFunc(parts, func(x part) bool { return x.key == key && x.value != "" }); at >= 0 {
		parts[at] = made
	} else {
		parts = append(slices.DeleteFunc(parts, func(x part) bool { return x.value == "" }), made)
	}
	return Properties{parts}
}

// Without gives a copy without key.
func (p Properties) Without(key string) Properties {
	return Properties{slices.DeleteFunc(slices.Clone(p.parts), func(x part) bool { return x.key == key && x.value != "" })}
}

// renamed gives a copy in which the part of one key is another key's, at its place.
func (p Properties) renamed(key, to, value string) Properties {
	parts := slices.Clone(p.parts)
	for i, x := range parts {
		if x.key == key && x.value != "" {
			parts[i] = part{key: to, value: value, text: to + "=" + value}
		}
	}
	return Properties{parts}
}

// String gives the property string.
func (p Properties) String() string {
	texts := make([]string, len(p.parts))
	for i, x := range p.parts {
		texts[i] = x.text
	}
	return strings.Join(texts, ",")
}

// flag reads a boolean the way Proxmox does; absent is false.
func (p Properties) flag(key string) (bool, error) {
	value, ok := p.Get(key)
	switch strings.ToLower(value) {
	case "1", "on", "yes", "true":
		return true, nil
	case "0", "off", "no", "false":
		return false, nil
	}
	if !ok {
		return false, nil
	}
	return false, fmt.Errorf("%s=%s is neither 0 nor 1", key, netplan.Quote(value))
}
