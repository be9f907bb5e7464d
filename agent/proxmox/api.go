package proxmox

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// API makes single requests. Paths begin with a slash, follow /api2/json and are
// made with Path. An out gets what stands behind "data"; nil where that does not
// matter. Where the server says null and out is not a *json.RawMessage the error is
// ErrNoData. Errors are *Error, or the context's where nothing was sent.
type API interface {
	Get(ctx context.Context, path string, params url.Values, out any) error
	Post(ctx context.Context, path string, params url.Values, out any) error
	Put(ctx context.Context, path string, params url.Values, out any) error
	// Delete sends params in the query: the server refuses a body.
	Delete(ctx context.Context, path string, params url.Values, out any) error
}

// Path joins elements to a path, each escaped: an element never becomes two. A
// Client refuses a path with an element that is empty, "." or "..".
func Path(elements ...string) string {
	var b strings.Builder
	for _, e := range elements {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(e))
	}
	return b.String()
}

// GuestPath is the path of a guest, or of something below it.
func GuestPath(node, kind string, vmid int, below ...string) string {
	return Path(append([]string{"nodes", node, kind, strconv.Itoa(vmid)}, below...)...)
}

// Request is one request as an operator may see it.
type Request struct {
	Method string
	// Path after /api2/json, escaped.
	Path string
	// Params of the query or the body.
	Params url.Values
}

// Writes says that the request is one that changes something.
func (r Request) Writes() bool { return r.Method != http.MethodGet }

// String gives method, path and parameters in one line: in the order of their
// names, quoted where they hold more than plain words.
func (r Request) String() string {
	var b strings.Builder
	b.WriteString(r.Method + " " + r.Path)
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		for _, value := range r.Params[name] {
			if strings.ContainsAny(value, " \"'\\\n\t") || value == "" {
				value = strconv.Quote(value)
			}
			b.WriteString(" " + name + "=" + value)
		}
	}
	return b.String()
}
