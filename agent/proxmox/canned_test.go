package proxmox

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// canned is an API that has the same data for every question.
type canned string

func (c canned) answer(method, path string, out any) error {
	return decode(Request{Method: method, Path: path}, json.RawMessage(c), out)
}

func (c canned) Get(_ context.Context, path string, _ url.Values, out any) error {
	return c.answer(http.MethodGet, path, out)
}

func (c canned) Post(_ context.Context, path string, _ url.Values, out any) error {
	return c.answer(http.MethodPost, path, out)
}

func (c canned) Put(_ context.Context, path string, _ url.Values, out any) error {
	return c.answer(http.MethodPut, path, out)
}

func (c canned) Delete(_ context.Context, path string, _ url.Values, out any) error {
	return c.answer(http.MethodDelete, path, out)
}

// byPath is an API that has data for some paths, and fails for others.
type byPath map[string]string

func (b byPath) Get(ctx context.Context, path string, params url.Values, out any) error {
	data, ok := b[path]
	if !ok {
		return &Error{Method: http.MethodGet, Path: path, Status: http.StatusNotImplemented}
	}
	return canned(data).Get(ctx, path, params, out)
}

func (b byPath) Post(context.Context, string, url.Values, any) error   { panic("only reads") }
func (b byPath) Put(context.Context, string, url.Values, any) error    { panic("only reads") }
func (b byPath) Delete(context.Context, string, url.Values, any) error { panic("only reads") }
