package pvesim

import (
	"maps"
	"slices"
	"strings"
)

// parseKeys reads a property string such as "virtio=MAC,bridge=vmbr0,tag=30": its
// keys as the schema names them, or all that is wrong with it.
func (p *property) parseKeys(text string) (values map[string]string, faults []string) {
	values = map[string]string{}
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, named := strings.Cut(part, "=")
		if !named {
			key, value = p.defaultKey(), part
		}
		k := p.Keys[key]
		if k == nil {
			faults = append(faults, key+": property is not defined in schema and the schema does not allow additional properties")
			continue
		}
		if k.KeyAlias != "" {
			values[k.KeyAlias] = key
		}
		if k.Alias != "" {
			key, k = k.Alias, p.Keys[k.Alias]
		}
		clean, fault := k.verify(value)
		if fault != "" {
			faults = append(faults, key+": "+fault)
		}
		values[key] = clean
	}
	for key, k := range p.Keys {
		if !k.Optional && k.Alias == "" && values[key] == "" {
			faults = append(faults, key+": property is missing and it is not optional")
		}
	}
	slices.Sort(faults)
	return values, faults
}

func (p *property) defaultKey() string {
	for key, k := range p.Keys {
		if k.Default {
			return key
		}
	}
	return ""
}

// printKeys writes a property string as the server stores it: the default key
// first, with its alias's value, then the others by name.
func (p *property) printKeys(values map[string]string) string {
	rest := maps.Clone(values)
	var parts []string
	if first := p.defaultKey(); first != "" && rest[first] != "" {
		model := rest[first]
		if alias := p.Keys[model]; alias != nil && alias.KeyAlias == first && rest[alias.Alias] != "" {
			parts = append(parts, model+"="+rest[alias.Alias])
			delete(rest, alias.Alias)
		} else {
			parts = append(parts, model)
		}
		delete(rest, first)
	}
	for _, key := range slices.Sorted(maps.Keys(rest)) {
		parts = append(parts, key+"="+rest[key])
	}
	return strings.Join(parts, ",")
}
