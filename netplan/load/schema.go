package load

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"homeward/netplan"
)

// schema is a JSON Schema object; its keys are sorted when it is written.
type schema map[string]any

// enter gives the schema of what stands below a name of an object, "*" for any, made
// where it is missing.
func (s schema) enter(name string) schema {
	if name == "*" {
		below, ok := s["additionalProperties"].(schema)
		if !ok {
			below = schema{}
			s["additionalProperties"] = below
		}
		return below
	}
	properties, ok := s["properties"].(schema)
	if !ok {
		properties = schema{}
		s["properties"] = properties
	}
	below, ok := properties[name].(schema)
	if !ok {
		below = schema{}
		properties[name] = below
	}
	return below
}

// Schema gives the JSON Schema (draft 2020-12) of cluster.yaml, for editors. It
// knows exactly the keys that loading knows, in both places, and is a little
// stricter than loading: it takes no written-out null. It cannot see what only
// the whole plan shows, such as an address outside its network.
func Schema() ([]byte, error) {
	s := rooms().schema()
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Homeward's cluster.yaml"
	s["$defs"] = definitions()
	s["oneOf"] = []any{schema{"required": []string{"proxmox"}}, schema{"required": []string{"openstack"}}}
	s["if"] = schema{"required": []string{"openstack"}}
	s["then"] = without(netplan.Proxmox)
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}

// Patterns of values, as definitions.
const (
	octet       = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	address     = octet + `(\.` + octet + `){3}`
	prefix      = address + `/(3[0-2]|[12]?[0-9])`
	span        = address + ` *- *` + address
	eui         = `[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{4}(\.[0-9A-Fa-f]{4}){2}`
	markText    = `0[xX][0-9A-Fa-f]{1,8}|0|[1-9][0-9]{0,9}`
	numberText  = ` *(0|[1-9][0-9]*) *`
	nearFlag    = ` *([Yy]([Ee][Ss])?|[Nn][Oo]?|[Oo]([Nn]|[Ff][Ff])|[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|[01]) *`
	description = "description"
)

func definitions() schema {
	str := func(pattern string) schema { return schema{"type": "string", "pattern": entire(pattern)} }
	ref := func(name string) schema { return schema{"$ref": "#/$defs/" + name} }
	listOf := func(name string, most int) schema {
		return schema{"anyOf": []any{ref(name), schema{"type": "array", "items": ref(name), "maxItems": most}}}
	}
	return schema{
		"address":   str(address),
		"network":   str(prefix),
		"mac":       str(eui),
		"mark":      schema{"anyOf": []any{schema{"type": "integer", "minimum": 0, "maximum": 0xffffffff}, str(markText)}},
		"range":     str(address + "|" + prefix + "|" + ` *` + span + ` *`),
		"source":    str(address + "|" + prefix),
		"text":      schema{"type": "string", "minLength": 1},
		"addresses": listOf("address", maxEntries),
		"ranges":    listOf("range", netplan.MaxRanges),
		"sources":   listOf("source", maxEntries),
		"texts":     listOf("text", maxEntries),
	}
}

// definition is which of the definitions a kind is.
var definition = map[kind]string{
	addr: "address", cidr: "network", mac: "mac", mark: "mark", mask: "mark",
	addrs: "addresses", ranges: "ranges", sources: "sources", texts: "texts",
}

// schema gives what may stand in a room.
func (r *room) schema() schema {
	s := r.key.schema()
	if r.key.kind != section {
		return s
	}
	properties := schema{}
	var required []string
	for _, name := range r.order {
		properties[name] = r.children[name].schema()
		if r.children[name].key.required {
			required = append(required, name)
		}
	}
	s["type"] = "object"
	if r.key.bare {
		s["type"] = []string{"object", "null"}
	}
	if len(properties) > 0 {
		s["properties"] = properties
	}
	if required != nil {
		s["required"] = required
	}
	switch {
	case r.wild != nil:
		s["additionalProperties"] = r.wild.schema()
		s["propertyNames"] = r.wild.names()
	case r.strict:
		s["additionalProperties"] = false
	}
	return s
}

// without refuses every key that has a meaning with one provider only, but for the
// provider's own section, which the schema refuses already.
func without(p netplan.Provider) schema {
	root := schema{}
	for i := range keys {
		k := &keys[i]
		if k.only != p || k.path == string(p) {
			continue
		}
		for _, path := range []string{k.path, k.also} {
			if path == "" || within(path, string(p)) {
				continue
			}
			at := root
			for _, name := range strings.Split(path, ".") {
				at = at.enter(name)
			}
			if k.bare { // with nothing in it, it is as good as not there
				at["type"] = "null"
			} else {
				at["not"] = schema{}
			}
		}
	}
	return root
}

// names gives which names the operator may give, see pathName.
func (r *room) names() schema {
	if r.key.kind == section {
		return schema{"pattern": entire(`[^\[\].]*`)}
	}
	return schema{"pattern": entire(`[^\[\]]*`)}
}

// schema gives what is known of a key by itself.
func (k *key) schema() schema {
	s := schema{}
	if k.doc != "" {
		s[description] = k.doc
	}
	if k.cloud.doc != "" {
		s[description] = k.doc + " On OpenStack: " + k.cloud.doc
	}
	if name := definition[k.kind]; name != "" {
		s["$ref"] = "#/$defs/" + name
	}
	switch k.kind {
	case text:
		maps.Copy(s, schema{"type": "string", "minLength": 1})
	case boolean:
		s["type"] = "boolean"
	case verify:
		path := schema{"type": "string", "minLength": 1, "not": schema{"pattern": entire(nearFlag)}}
		s["anyOf"] = []any{schema{"type": "boolean"}, schema{"enum": []string{"true", "false"}}, path}
	case number:
		n := schema{"type": "integer", "minimum": k.min}
		if k.max > 0 {
			n["maximum"] = k.max
		}
		s["anyOf"] = []any{n, schema{"type": "string", "pattern": entire(numberText)}}
	case credential:
		s["deprecated"] = true
	}
	if k.enum != nil {
		s["enum"] = k.enum
	}
	if k.def != "" {
		s["default"] = k.defaultValue()
	}
	if k.kind != section && k.example != "" && !strings.Contains(k.example, ": ") {
		s["examples"] = []any{strings.Trim(k.example, `"`)}
	}
	return s
}

// defaultValue is the default as JSON has it.
func (k *key) defaultValue() any {
	switch k.kind {
	case boolean, verify:
		return k.def == "true"
	case number:
		if n, err := strconv.Atoi(k.def); err == nil {
			return n
		}
	}
	return k.def
}

// entire makes a pattern match the whole text.
func entire(pattern string) string { return "^(" + pattern + ")$" }
