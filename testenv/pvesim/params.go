package pvesim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// refused says why the server does not even look at a request.
func (in *inbound) refused() error {
	switch {
	case in.chunked:
		return &problem{status: http.StatusNotImplemented, message: "chunked transfer encoding not supported", bare: true}
	case len(in.body) > 0 && in.method != http.MethodPost && in.method != http.MethodPut:
		return &problem{status: http.StatusNotImplemented, message: fmt.Sprintf("Unexpected content for method '%s'", in.method), bare: true}
	}
	return nil
}

// params puts those of the body and of the query beside those of the path.
func (in *inbound) params(c *call) error {
	if len(in.body) > 0 {
		kind, _, err := mime.ParseMediaType(in.contentType)
		if err != nil && in.contentType != "" {
			return &problem{status: http.StatusUnsupportedMediaType, message: "Unsupported Media Type", bare: true}
		}
		switch kind {
		case "application/json":
			if err := readJSON(in.body, c); err != nil {
				return err
			}
		case "", "application/x-www-form-urlencoded":
			if err := readForm(string(in.body), c); err != nil {
				return err
			}
		default:
			return &problem{status: http.StatusUnsupportedMediaType, message: "Unsupported Media Type", bare: true}
		}
	}
	if in.url.RawQuery == "" {
		return nil
	}
	return readForm(in.url.RawQuery, c)
}

func readForm(text string, c *call) error {
	values, err := url.ParseQuery(text)
	if err != nil {
		return refuse("unable to decode form: %s", err)
	}
	for name, list := range values {
		if err := c.add(name, list, len(list) > 1); err != nil {
			return err
		}
	}
	return nil
}

func readJSON(body []byte, c *call) error {
	var values map[string]any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&values); err != nil {
		return refuse("malformed JSON string: %s", err)
	}
	for name, value := range values {
		var list []string
		switch v := value.(type) {
		case nil:
			continue
		case []any:
			for _, item := range v {
				list = append(list, text(item))
			}
		case map[string]any:
			return wrongParam(name, "type check ('string') failed - got HASH")
		default:
			list = []string{text(v)}
		}
		_, array := value.([]any)
		if err := c.add(name, list, array); err != nil {
			return err
		}
	}
	return nil
}

// add takes one parameter; one of the path cannot have another value besides.
func (c *call) add(name string, list []string, array bool) error {
	if old, ok := c.params[name]; ok && c.inPath(name) {
		if array || list[0] != old {
			return wrongParam(name, "duplicate parameter (already defined in URI) with conflicting values!")
		}
		return nil
	}
	if !array {
		c.params[name] = list[0]
		return nil
	}
	delete(c.params, name)
	c.lists[name] = list
	return nil
}

func (c *call) inPath(name string) bool {
	return c.method != nil && strings.Contains(c.method.Path, "{"+name+"}")
}

// text writes a JSON value as the server's parameters are: text.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return fmt.Sprint(number01(v))
	case nil:
		return ""
	}
	return fmt.Sprint(v)
}

// scalar is a stored value as the API shows it: what looks like a number is one.
func scalar(v string) any {
	if n, err := strconv.Atoi(v); err == nil && strconv.Itoa(n) == v {
		return n
	}
	return v
}
