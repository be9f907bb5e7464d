package proxmox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// Bounds of an answer. The list of a cluster's 10,000 guests has some 6 MiB.
const (
	maxAnswer  = 32 << 20
	maxRefusal = 64 << 10
)

// whole is a transport that gives only answers which came whole and are Proxmox's.
// The library above it would take an empty or a foreign one for success, and the HTTP
// client between the two would take the token to wherever a redirect points.
type whole struct{ next http.RoundTripper }

// answerFault is an answer that is not Proxmox's.
type answerFault struct {
	status int
	text   string
}

func (f *answerFault) Error() string { return f.text }

func (w *whole) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	good := res.StatusCode >= 200 && res.StatusCode <= 299
	limit := int64(maxRefusal)
	if good {
		limit = maxAnswer
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	switch {
	case res.StatusCode >= 300 && res.StatusCode <= 399:
		return nil, &answerFault{res.StatusCode, "the server sends us elsewhere" + elsewhere(res) + ", and the token must not follow: is proxmox.url the address of the API itself?"}
	case err != nil && good:
		return nil, fmt.Errorf("the answer broke off after %d bytes: %w", len(body), err)
	case good:
		if text := foreign(res.Header.Get("Content-Type"), body); text != "" {
			return nil, &answerFault{res.StatusCode, text}
		}
	default:
		body = body[:min(len(body), maxRefusal)]
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// foreign says what is wrong with a 2xx answer, "" for nothing. It repeats nothing
// of it.
func foreign(contentType string, body []byte) string {
	if len(body) > maxAnswer {
		return fmt.Sprintf("the answer is over %d MiB", maxAnswer>>20)
	}
	kind, _, _ := mime.ParseMediaType(contentType)
	if kind != "application/json" {
		what := "is no JSON"
		if strings.Contains(kind, "html") {
			what = "is a web page, not JSON"
		}
		return "the answer " + what + ": is proxmox.url the address of the API itself?"
	}
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal(body, &envelope); err != nil {
		if len(body) == 0 {
			return "the answer is empty"
		}
		return "the answer is broken JSON, or no object"
	}
	if _, ok := envelope["data"]; !ok {
		return "the answer has no \"data\": is proxmox.url the address of the API itself?"
	}
	var faults map[string]json.RawMessage
	if json.Unmarshal(envelope["errors"], &faults) == nil && len(faults) > 0 {
		return "the answer says both done and wrong"
	}
	return ""
}

// elsewhere names the host of a redirect.
func elsewhere(res *http.Response) string {
	u, err := url.Parse(res.Header.Get("Location"))
	if err != nil || u.Host == "" {
		return ""
	}
	return " (" + oneLine(u.Host) + ")"
}

// oneLine makes foreign text fit for a message.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfffd {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	const most = 300
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
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
