package load

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"homeward/netplan"
)

// ciphertext is how SOPS begins an encrypted value.
const ciphertext = "ENC[AES256_GCM,"

// How numbers are written.
var (
	decimal     = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	hexadecimal = regexp.MustCompile(`^0[xX][0-9a-fA-F]+$`)
	leadingZero = regexp.MustCompile(`^0[0-9]+$`)
)

// parseValue reads the value of a known key as its kind; nil after a fault.
func (d *document) parseValue(n *yaml.Node, p place) any {
	var v any
	var err error
	switch p.room.key.kind {
	case addrs:
		v, err = list(d, n, p, netplan.ParseAddr)
	case ranges:
		v, err = list(d, n, p, netplan.ParseRange)
	case sources:
		v, err = list(d, n, p, parseSource)
	case texts:
		v, err = list(d, n, p, plainText)
	default:
		v, err = d.scalar(n, p)
	}
	if err != nil {
		d.refuse(p, err)
		return nil
	}
	return v
}

// errNoted says that a fault is in the document already.
var errNoted = errors.New("noted")

// refuse notes why a value could not be read.
func (d *document) refuse(p place, err error) {
	if !errors.Is(err, errNoted) {
		d.fault(p, "%v", err)
	}
}

// scalar reads one value that is no list.
func (d *document) scalar(n *yaml.Node, p place) (any, error) {
	k := p.room.key
	if n.Kind != yaml.ScalarNode {
		return nil, fmt.Errorf("is %s: give %s", describe(n), k.wanted())
	}
	if d.isEncrypted(n, p) {
		return nil, errNoted
	}
	switch k.kind {
	case boolean:
		return parseFlag(n)
	case verify:
		if n.ShortTag() == "!!bool" {
			return strings.ToLower(n.Value), nil
		}
	case number:
		return parseNumber(n, k)
	case mark, mask:
		return parseMark(n, k)
	case tokenID, tokenSecret, credentialID, credentialSecret:
		return credentialOf(n, k)
	}
	s, err := stringOf(n, k)
	if err != nil {
		return nil, err
	}
	switch k.kind {
	case addr:
		return netplan.ParseAddr(s)
	case cidr:
		return netplan.ParsePrefix(s)
	case mac:
		return netplan.ParseMAC(s)
	case verify:
		return verified(s)
	}
	return plainText(s)
}

// isEncrypted notes a ciphertext where a value should be.
func (d *document) isEncrypted(n *yaml.Node, p place) bool {
	if !strings.HasPrefix(n.Value, ciphertext) {
		return false
	}
	d.taint(p.canonical, p.room.key)
	if d.encrypted.count == 0 || p.line < d.encrypted.first.Line {
		d.encrypted.first = Located{Line: max(p.line, 1), Path: p.path}
	}
	d.encrypted.count++
	return true
}

// inQuotes is what should have been written: the same text in quotes, or where a
// whole version is wanted, a whole version.
func inQuotes(k *key, n *yaml.Node) string {
	if strings.HasSuffix(k.path, ".version") {
		return "like " + netplan.Quote(k.example)
	}
	return netplan.Quote(n.Value)
}

// stringOf gives a scalar that was written as text. A number is none, for YAML
// makes 1.10 of one tool the 1.1 of another.
func stringOf(n *yaml.Node, k *key) (string, error) {
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		return n.Value, nil
	case "!!int", "!!float", "!!bool":
		if k.kind == text || k.kind == texts || k.kind == verify {
			return "", fmt.Errorf("is %s: give text, in quotes (%s)", describe(n), inQuotes(k, n))
		}
	}
	return "", fmt.Errorf("is %s: give %s", describe(n), k.wanted())
}

func plainText(s string) (string, error) {
	if s == "" {
		return "", errors.New("is an empty text: give a value, or remove the key")
	}
	if clean(s) != s {
		return "", fmt.Errorf("%s holds control characters or several lines", netplan.Quote(s))
	}
	return s, nil
}

func parseFlag(n *yaml.Node) (bool, error) {
	if n.ShortTag() == "!!bool" {
		return strings.EqualFold(n.Value, "true"), nil
	}
	right := "true or false"
	if meant, ok := nearlyFlag(n.Value); ok {
		right = meant
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		right += ", without quotes"
	}
	return false, fmt.Errorf("is %s: give %s", describe(n), right)
}

// nearlyFlag gives the boolean that a text was meant to be.
func nearlyFlag(s string) (meant string, ok bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "yes", "on", "y", "true", "1":
		return "true", true
	case "no", "off", "n", "false", "0":
		return "false", true
	}
	return "", false
}

// verified refuses a text that would silently become the name of a CA file.
func verified(s string) (string, error) {
	if meant, ok := nearlyFlag(s); ok && s != meant {
		return "", fmt.Errorf("%s is neither true, false nor the path of a CA file: give %s", netplan.Quote(s), meant)
	}
	return plainText(s)
}

// parseNumber takes decimal numbers only, quoted or not: what starts with a zero
// is octal to some tools and decimal to others.
func parseNumber(n *yaml.Node, k *key) (int, error) {
	tag, s := n.ShortTag(), strings.TrimSpace(n.Value)
	switch {
	case leadingZero.MatchString(s):
		return 0, fmt.Errorf("%s starts with a zero, which is octal to some tools: give %s", netplan.Quote(s), trimZeros(s))
	case tag != "!!int" && tag != "!!str" && tag != "!!float":
		return 0, fmt.Errorf("is %s: give %s", describe(n), k.wanted())
	case decimal.MatchString(s):
		v, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			return 0, fmt.Errorf("%s is out of range: give %s", netplan.Quote(s), k.wanted())
		}
		return int(v), nil
	case hexadecimal.MatchString(s):
		if v, err := strconv.ParseInt(s[2:], 16, 32); err == nil {
			return 0, fmt.Errorf("%s is hexadecimal: give %d", netplan.Quote(s), v)
		}
	case tag == "!!float":
		return 0, fmt.Errorf("%s is not a whole number: give %s", netplan.Quote(s), k.wanted())
	}
	return 0, fmt.Errorf("%s is not a decimal number: give %s", netplan.Quote(s), k.wanted())
}

func trimZeros(s string) string {
	if s = strings.TrimLeft(s, "0"); s == "" {
		return "0"
	}
	return s
}

// parseMark takes decimal and 0x-hexadecimal, quoted or not.
func parseMark(n *yaml.Node, k *key) (any, error) {
	tag, s := n.ShortTag(), strings.TrimSpace(n.Value)
	if tag != "!!int" && tag != "!!str" && tag != "!!float" {
		return nil, fmt.Errorf("is %s: give %s", describe(n), k.wanted())
	}
	if !decimal.MatchString(s) && !hexadecimal.MatchString(s) {
		return nil, fmt.Errorf("%s is neither a decimal nor a 0x number: give it like 0x2000", netplan.Quote(s))
	}
	if k.kind == mask {
		return netplan.ParseMask(s)
	}
	return netplan.ParseMark(s)
}
