package pvesim

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// verify checks a request's parameters against the schema, all faults at once, and
// brings booleans to 0 and 1.
func (m *method) verify(params map[string]string, lists map[string][]string) error {
	var faults map[string]string
	fault := func(name, text string) {
		if faults == nil {
			faults = map[string]string{}
		}
		faults[name] = text
	}
	for name, value := range params {
		p := m.property(name)
		if p == nil {
			fault(name, "property is not defined in schema and the schema does not allow additional properties")
			continue
		}
		if p.Type == "array" {
			lists[name] = []string{value}
			delete(params, name)
			continue
		}
		clean, text := p.verify(value)
		if text != "" {
			fault(name, text)
			continue
		}
		if clean != value {
			params[name] = clean
		}
		if p.Requires != "" {
			if _, ok := params[p.Requires]; !ok {
				fault(p.Requires, "missing property - '"+name+"' requires this property")
			}
		}
	}
	for name, values := range lists {
		m.verifyList(name, values, fault)
	}
	for _, name := range m.required {
		if _, ok := params[name]; ok {
			continue
		}
		if _, ok := lists[name]; !ok {
			fault(name, "property is missing and it is not optional")
		}
	}
	if faults != nil {
		return wrong(faults)
	}
	return nil
}

func (m *method) verifyList(name string, values []string, fault func(name, text string)) {
	p := m.property(name)
	switch {
	case p == nil:
		fault(name, "property is not defined in schema and the schema does not allow additional properties")
	case p.Type != "array":
		fault(name, fmt.Sprintf("type check ('%s') failed - got ARRAY", p.Type))
	case p.Items != nil:
		for i, v := range values {
			if _, text := p.Items.verify(v); text != "" {
				fault(fmt.Sprintf("%s[%d]", name, i), text)
			}
		}
	}
}

// integer and number are the server's idea of both.
var (
	integer = regexp.MustCompile(`^[+-]?\d+$`)
	number  = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)
)

// verify checks one value, and gives it as the server goes on with it.
func (p *property) verify(value string) (clean, fault string) {
	n := math.NaN()
	switch p.Type {
	case "boolean":
		switch strings.ToLower(value) {
		case "1", "on", "yes", "true":
			return "1", ""
		case "0", "off", "no", "false":
			return "0", ""
		}
		return value, fmt.Sprintf("type check ('boolean') failed - got '%s'", value)
	case "integer", "number":
		kind := map[string]*regexp.Regexp{"integer": integer, "number": number}[p.Type]
		if !kind.MatchString(value) {
			return value, fmt.Sprintf("type check ('%s') failed - got '%s'", p.Type, value)
		}
		n, _ = strconv.ParseFloat(value, 64) // out of range is infinite, and then too large
	}
	length := utf8.RuneCountInString(value)
	switch {
	case p.Keys != nil:
		if _, faults := p.parseKeys(value); faults != nil {
			return value, "invalid format - format error\n" + strings.Join(faults, "\n") + "\n"
		}
	case p.Format != "" && verifyFormat(p.Format, value) != "":
		return value, "invalid format - " + verifyFormat(p.Format, value)
	case p.MaxLength != nil && length > *p.MaxLength:
		return value, fmt.Sprintf("value may only be %d characters long", *p.MaxLength)
	case p.MinLength != nil && length < *p.MinLength:
		return value, fmt.Sprintf("value must be at least %d characters long", *p.MinLength)
	case p.Maximum != nil && n > *p.Maximum:
		return value, fmt.Sprintf("value must have a maximum value of %v", *p.Maximum)
	case p.Minimum != nil && n < *p.Minimum:
		return value, fmt.Sprintf("value must have a minimum value of %v", *p.Minimum)
	case p.pattern != nil && !p.pattern.MatchString(value):
		return value, "value does not match the regex pattern"
	case p.Enum != nil && !slices.Contains(p.Enum, value):
		return value, fmt.Sprintf("value '%s' does not have a value in the enumeration '%s'", value, strings.Join(p.Enum, ", "))
	}
	return value, ""
}
