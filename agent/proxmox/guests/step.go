package guests

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"homeward/agent/proxmox"
)

// Step is one request that changes a guest.
type Step struct {
	// Guest is who is changed, as an operator knows it.
	Guest string
	// Words say what the request does.
	Words string
	// Request is what is sent, all but the digest. The place of a rule is the one
	// it has when all steps before have been made.
	Request proxmox.Request
	// Replugs says that a running guest loses the NIC for a moment.
	Replugs bool

	// digest guards the request; it is only the right one for the first step of a
	// difference. guarded says that there is one.
	digest  string
	guarded bool
	part    part
}

// String is the step in one line: the request, and what it does.
func (s Step) String() string {
	text := s.Request.String()
	if s.guarded {
		text += " digest=(as then read)"
	}
	return text + "  # " + s.Guest + ": " + s.Words
}

// MarshalJSON gives the request in one object with what it does.
func (s Step) MarshalJSON() ([]byte, error) {
	params := make(map[string]string, len(s.Request.Params))
	for key := range s.Request.Params {
		params[key] = s.Request.Params.Get(key)
	}
	return json.Marshal(struct {
		Guest   string            `json:"guest"`
		Words   string            `json:"words"`
		Method  string            `json:"method"`
		Path    string            `json:"path"`
		Params  map[string]string `json:"params"`
		Replugs bool              `json:"replugs,omitempty"`
	}{s.Guest, s.Words, s.Request.Method, s.Request.Path, params, s.Replugs})
}

// params are what is sent.
func (s Step) params() url.Values {
	v := maps.Clone(s.Request.Params)
	if s.digest != "" {
		if v == nil {
			v = url.Values{}
		}
		v.Set("digest", s.digest)
	}
	return v
}

// Item is what Homeward does not change by itself.
type Item struct {
	// Guest is empty for what concerns a node or the whole cluster.
	Guest   string `json:"guest,omitempty"`
	Message string `json:"message"`
	// Commands are what an operator may run: pvesh on any node of the cluster, qm on
	// the guest's. Empty where it is for the operator to find out.
	Commands []string `json:"commands,omitempty"`
	// Note says that nothing is wrong: what the plan asks for works without it.
	Note bool `json:"note,omitempty"`
}

// Difference is what is to be done about one guest.
type Difference struct {
	Steps    []Step   `json:"steps"`
	Items    []Item   `json:"items"`
	Switches Switches `json:"switches"`
}

// builder gathers the difference of one guest.
type builder struct {
	d Desired
	a Actual
	s Surroundings
	o Options
	m mark
	Difference
}

func (b *builder) step(p part, request proxmox.Request, format string, args ...any) *Step {
	b.Steps = append(b.Steps, Step{Guest: b.a.String(), Words: plain(fmt.Sprintf(format, args...)), Request: request, part: p})
	return &b.Steps[len(b.Steps)-1]
}

// guard ties the step to what was read.
func (s *Step) guard(digest string) { s.digest, s.guarded = digest, true }

func (b *builder) item(commands []string, format string, args ...any) {
	for i := range commands {
		commands[i] = plain(commands[i])
	}
	b.Items = append(b.Items, Item{Guest: b.a.String(), Message: plain(fmt.Sprintf(format, args...)), Commands: commands})
}

// plain takes control characters out of text that holds the server's words, before
// it reaches a terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

func (b *builder) path(below ...string) string { return b.a.at().path(below...) }

func post(path string, params url.Values) proxmox.Request {
	return proxmox.Request{Method: http.MethodPost, Path: path, Params: params}
}

func put(path string, params url.Values) proxmox.Request {
	return proxmox.Request{Method: http.MethodPut, Path: path, Params: params}
}

func remove(path string, params url.Values) proxmox.Request {
	return proxmox.Request{Method: http.MethodDelete, Path: path, Params: params}
}

func values(m map[string]string) url.Values {
	v := make(url.Values, len(m))
	for key, value := range m {
		v.Set(key, value)
	}
	return v
}
