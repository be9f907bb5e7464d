package pvesim_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"homeward/testenv/pvesim"
)

// client speaks to one endpoint with one token.
type client struct {
	t    testing.TB
	http *http.Client
	base string
	auth string
}

// reply is an answer, read whole.
type reply struct {
	code   int
	status string
	data   any
	errors map[string]any
	body   string
}

func newSim(t testing.TB, o pvesim.Options) *pvesim.Sim {
	t.Helper()
	s, err := pvesim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inProcess gives a client of a node's endpoint without a socket.
func inProcess(t testing.TB, s *pvesim.Sim, node string) *client {
	id, secret := s.State().FirstToken()
	return &client{t: t, http: &http.Client{Transport: s.Transport(node)}, base: "https://pve.invalid:8006", auth: "PVEAPIToken=" + id + "=" + secret}
}

// as gives the same client with another token.
func (c *client) as(id, secret string) *client {
	other := *c
	other.auth = "PVEAPIToken=" + id + "=" + secret
	return &other
}

// try makes a request; params alternate between names and values.
func (c *client) try(method, path string, params ...string) (reply, error) {
	values := url.Values{}
	for i := 0; i < len(params); i += 2 {
		values.Add(params[i], params[i+1])
	}
	target := c.base + "/api2/json" + path
	var body io.Reader
	if method == http.MethodPost || method == http.MethodPut {
		body = strings.NewReader(values.Encode())
	} else if len(values) > 0 {
		target += "?" + values.Encode()
	}
	r, err := http.NewRequest(method, target, body)
	if err != nil {
		c.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return c.send(r)
}

func (c *client) send(r *http.Request) (reply, error) {
	if c.auth != "" {
		r.Header.Set("Authorization", c.auth)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, err
	}
	out := reply{code: resp.StatusCode, status: resp.Status, body: string(text)}
	var v struct {
		Data   any
		Errors map[string]any
	}
	if len(text) < 1<<20 && json.Unmarshal(text, &v) == nil {
		out.data, out.errors = v.Data, v.Errors
	}
	return out, nil
}

// do is try for requests that must be answered.
func (c *client) do(method, path string, params ...string) reply {
	c.t.Helper()
	r, err := c.try(method, path, params...)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

// must is do for requests that must succeed.
func (c *client) must(method, path string, params ...string) any {
	c.t.Helper()
	r := c.do(method, path, params...)
	if r.code != http.StatusOK {
		c.t.Fatalf("%s %s %q: %s: %s", method, path, params, r.status, r.body)
	}
	return r.data
}

// refused wants an answer with this status line and, for 400, this text about a
// parameter.
func (c *client) refused(status string, field string, method, path string, params ...string) {
	c.t.Helper()
	r := c.do(method, path, params...)
	if r.status != status {
		c.t.Errorf("%s %s %q: %s (%s), want %s", method, path, params, r.status, r.body, status)
		return
	}
	name, text, _ := strings.Cut(field, ": ")
	if got, _ := r.errors[name].(string); field != "" && got != text {
		c.t.Errorf("%s %s %q: errors %v, want %s", method, path, params, r.errors, field)
	}
}

const badParams = "400 Parameter verification failed."

// list gives an answer's data as a list of objects.
func list(data any) []map[string]any {
	out := []map[string]any{}
	items, _ := data.([]any)
	for _, item := range items {
		o, _ := item.(map[string]any)
		out = append(out, o)
	}
	return out
}

// column gives one field of each object of a list, as text.
func column(data any, field string) []string {
	out := []string{}
	for _, o := range list(data) {
		s, _ := o[field].(string)
		out = append(out, s)
	}
	return out
}
