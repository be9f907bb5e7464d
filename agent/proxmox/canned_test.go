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
