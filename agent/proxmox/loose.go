package proxmox

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Flag is a boolean as the server writes it: 1, 0, "1", "0", true, false, "" or
// null. The zero Flag is off.
type Flag bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *Flag) UnmarshalJSON(data []byte) error {
	switch strings.Trim(string(data), `"`) {
	case "1", "true", "yes", "on":
		*f = true
	case "0", "false", "no", "off", "", "null":
		*f = false
	default:
		return fmt.Errorf("neither yes nor no where one of them must stand")
	}
	return nil
}

// Number is a whole number that the server writes as a number or a text. Zero for
// null and the empty text.
type Number int

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `"`)
	if text == "" || text == "null" {
		*n = 0
		return nil
	}
	v, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("no whole number where one must stand")
	}
	*n = Number(v)
	return nil
}

// Text is a text that the server may write as a number. Empty for null.
type Text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(data []byte) error {
	var v any
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		*t = ""
	case string:
		*t = Text(v)
	case json.Number:
		*t = Text(v.String())
	default:
		return fmt.Errorf("no text where one must stand")
	}
	return nil
}
