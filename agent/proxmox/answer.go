package proxmox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"homeward/agent/ledger/exchange"
)

// maxAnswer is the most of an answer. The list of a cluster's 10,000 guests has some 6
// MiB.
const maxAnswer = 32 << 20

// apiField is the plan's that has the API's address.
const apiField = "proxmox.url"

// whole gives only answers which came whole and are Proxmox's.
func whole(next http.RoundTripper) *exchange.Whole {
	return &exchange.Whole{Next: next, Limit: maxAnswer, Field: apiField, Foreign: foreign}
}

// foreign says what is wrong with a 2xx answer, "" for nothing. It repeats nothing
// of it.
func foreign(contentType string, body []byte) string {
	if text := exchange.NotJSON(contentType, apiField); text != "" {
		return text
	}
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal(body, &envelope); err != nil {
		if len(body) == 0 {
			return "the answer is empty"
		}
		return "the answer is broken JSON, or no object"
	}
	if _, ok := envelope["data"]; !ok {
		return "the answer has no \"data\": is " + apiField + " the address of the API itself?"
	}
	var faults map[string]json.RawMessage
	if json.Unmarshal(envelope["errors"], &faults) == nil && len(faults) > 0 {
		return "the answer says both done and wrong"
	}
	return ""
}

// check refuses a request that would not reach the object it names.
func check(r Request) error {
	rest, ok := strings.CutPrefix(r.Path, "/")
	if !ok || strings.ContainsAny(r.Path, "?#") {
		return errors.New("this is not a path of the API")
	}
	for element := range strings.SplitSeq(rest, "/") {
		plain, err := url.PathUnescape(element)
		if err != nil || plain == "" || plain == "." || plain == ".." || strings.ContainsFunc(plain, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return errors.New("an element of the path names nothing")
		}
	}
	for name, values := range r.Params {
		if len(values) != 1 {
			return fmt.Errorf("parameter %s has %d values, not one", name, len(values))
		}
	}
	return nil
}

// silent is the library's logger: at its debug level it prints bodies.
type silent struct{}

func (silent) Debugf(string, ...any) {}
func (silent) Errorf(string, ...any) {}
func (silent) Infof(string, ...any)  {}
func (silent) Warnf(string, ...any)  {}
