package pvesim

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// schemaText is the table of methods and parameters; the package doc says how it
// was made.
//
//go:embed schema.json
var schemaText []byte

// property is what a parameter, or one key of a property string, may be.
type property struct {
	Type      string               `json:"type"`
	Format    string               `json:"format"`
	Pattern   string               `json:"pattern"`
	Enum      []string             `json:"enum"`
	Minimum   *float64             `json:"minimum"`
	Maximum   *float64             `json:"maximum"`
	MinLength *int                 `json:"minLength"`
	MaxLength *int                 `json:"maxLength"`
	Optional  bool                 `json:"optional"`
	Requires  string               `json:"requires"`
	Items     *property            `json:"items"`
	Keys      map[string]*property `json:"keys"`
	// Default says that this key of a property string may stand without its name;
	// Alias and KeyAlias that "virtio=MAC" means "model=virtio,macaddr=MAC".
	Default  bool   `json:"default"`
	Alias    string `json:"alias"`
	KeyAlias string `json:"keyAlias"`

	pattern *regexp.Regexp
}

// method is one line of the API.
type method struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	// Proxy names the parameter that says which node answers.
	Proxy string          `json:"proxy"`
	User  string          `json:"user"`
	Check json.RawMessage `json:"check"`
	Names []string        `json:"params"`

	params   map[string]*property
	required []string
	check    *check
	handle   handler
}

// name is how the method is registered.
func (m *method) name() string { return m.Method + " " + m.Path }

// schema is the API as a tree of path segments.
type schema struct {
	methods []*method
	root    *segment
}

type segment struct {
	static map[string]*segment
	// param is the child for any other text, rest that it takes what follows too,
	// slashes included: the address in an IPSet's path.
	param   *segment
	name    string
	rest    bool
	methods map[string]*method
}

// loadSchema reads the table and joins it with the handlers. A method without a
// handler, or the other way round, is an error of this package.
func loadSchema(handlers map[string]handler) (*schema, error) {
	var table struct {
		Properties map[string]*property `json:"properties"`
		Methods    []*method            `json:"methods"`
	}
	if err := json.Unmarshal(schemaText, &table); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	for name, p := range table.Properties {
		if err := p.compile(); err != nil {
			return nil, fmt.Errorf("reading the schema: property %s: %w", name, err)
		}
	}
	s := &schema{methods: table.Methods, root: &segment{}}
	for _, m := range table.Methods {
		m.params = map[string]*property{}
		for _, name := range m.Names {
			p, ok := table.Properties[name]
			if !ok {
				return nil, fmt.Errorf("reading the schema: %s: no property %s", m.name(), name)
			}
			name, _, _ = strings.Cut(name, "#")
			m.params[name] = p
			if !p.Optional {
				m.required = append(m.required, name)
			}
		}
		slices.Sort(m.required)
		var err error
		if m.check, err = parseCheck(m.Check); err != nil {
			return nil, fmt.Errorf("reading the schema: %s: %w", m.name(), err)
		}
		if m.handle = handlers[m.name()]; m.handle == nil {
			return nil, fmt.Errorf("reading the schema: %s has no handler", m.name())
		}
		s.root.add(m)
	}
	if len(handlers) != len(table.Methods) {
		return nil, fmt.Errorf("reading the schema: %d handlers for %d methods", len(handlers), len(table.Methods))
	}
	return s, nil
}

func (p *property) compile() error {
	if p.Pattern != "" {
		var err error
		if p.pattern, err = regexp.Compile("^(?:" + p.Pattern + ")$"); err != nil {
			return err
		}
	}
	for _, key := range p.Keys {
		if err := key.compile(); err != nil {
			return err
		}
	}
	if p.Items != nil {
		return p.Items.compile()
	}
	return nil
}

func (s *segment) add(m *method) {
	at := s
	for _, part := range strings.Split(strings.TrimPrefix(m.Path, "/"), "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			if at.param == nil {
				at.param = &segment{name: strings.TrimSuffix(name, "}")}
				at.param.rest = at.param.name == "cidr"
			}
			at = at.param
			continue
		}
		if at.static == nil {
			at.static = map[string]*segment{}
		}
		if at.static[part] == nil {
			at.static[part] = &segment{}
		}
		at = at.static[part]
	}
	if at.methods == nil {
		at.methods = map[string]*method{}
	}
	at.methods[m.Method] = m
}

// find gives the method for a path that is unescaped already, and what its
// variable segments are. The real server unescapes before it splits, too.
func (s *schema) find(verb, path string, params map[string]string) *method {
	at := s.root
	rest := strings.Trim(path, "/")
	for rest != "" {
		part, after, _ := strings.Cut(rest, "/")
		next := at.static[part]
		if next == nil {
			if next = at.param; next == nil {
				return nil
			}
			if next.rest {
				part, after = rest, ""
			}
			params[next.name] = part
		}
		at, rest = next, after
	}
	return at.methods[verb]
}

// property finds what a parameter may be; "net1" is an instance of "net[n]".
func (m *method) property(name string) *property {
	if p := m.params[name]; p != nil {
		return p
	}
	base := strings.TrimRight(name, "0123456789")
	digits := name[len(base):]
	if digits == "" || len(digits) > 1 && digits[0] == '0' || len(digits) > 3 {
		return nil
	}
	return m.params[base+"[n]"]
}
