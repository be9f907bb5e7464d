package pvesim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// check is a method's permission rule: perm on a path, or several joined.
type check struct {
	kind       string // perm, and, or
	path       string
	privileges []string
	any        bool
	of         []*check
}

// parseCheck reads a rule as the schema has it: ["perm", "/vms/{vmid}",
// ["VM.Audit"]] with ["any", 1] after it for one of several.
func parseCheck(text json.RawMessage) (*check, error) {
	if text == nil {
		return nil, nil
	}
	var parts []json.RawMessage
	var c check
	if err := json.Unmarshal(text, &parts); err != nil || len(parts) == 0 {
		return nil, fmt.Errorf("rule %s: not a list", text)
	}
	if err := json.Unmarshal(parts[0], &c.kind); err != nil {
		return nil, fmt.Errorf("rule %s: %w", text, err)
	}
	switch c.kind {
	case "and", "or":
		for _, p := range parts[1:] {
			of, err := parseCheck(p)
			if err != nil {
				return nil, err
			}
			c.of = append(c.of, of)
		}
	case "perm":
		if len(parts) < 3 || json.Unmarshal(parts[1], &c.path) != nil || json.Unmarshal(parts[2], &c.privileges) != nil {
			return nil, fmt.Errorf("rule %s: not a path and privileges", text)
		}
		c.any = len(parts) > 3
	default:
		return nil, fmt.Errorf("rule %s: no kind %s", text, c.kind)
	}
	return &c, nil
}

// pass refuses a call whose token has not the rights that its method needs. A
// method without a rule and without "all" is for root alone.
func (m *method) pass(c *call) error {
	if m.check == nil {
		if m.User == "all" || m.User == "world" {
			return nil
		}
		return &problem{status: http.StatusForbidden, message: "Permission check failed"}
	}
	return m.check.pass(c)
}

func (k *check) pass(c *call) error {
	switch k.kind {
	case "and":
		for _, of := range k.of {
			if err := of.pass(c); err != nil {
				return err
			}
		}
		return nil
	case "or":
		for _, of := range k.of {
			if of.pass(c) == nil {
				return nil
			}
		}
		return &problem{status: http.StatusForbidden, message: "Permission check failed"}
	}
	path := fill(k.path, c.params)
	if k.any {
		if c.state.may(c.token, path, k.privileges...) {
			return nil
		}
		return forbidden(path, k.privileges...)
	}
	for _, p := range k.privileges {
		if !c.state.may(c.token, path, p) {
			return forbidden(path, p)
		}
	}
	return nil
}

// fill puts the parameters into a path with {names}.
func fill(path string, params map[string]string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(path, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		b.WriteString(params[name])
		path = after
	}
}
