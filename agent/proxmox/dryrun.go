package proxmox

import (
	"context"
	"net/http"
	"net/url"

	"homeward/agent/ledger"
)

// DryRun is an API that reads from another and shows what would be written instead
// of writing it. What it shows is checked as far as a client checks it; the server
// may still refuse it.
type DryRun struct {
	API
	// Show is called with each request that is not made.
	Show func(Request)
}

// Post shows the request and leaves out as it is.
func (d DryRun) Post(ctx context.Context, path string, params url.Values, _ any) error {
	return d.show(ctx, Request{http.MethodPost, path, params})
}

// Put shows the request and leaves out as it is.
func (d DryRun) Put(ctx context.Context, path string, params url.Values, _ any) error {
	return d.show(ctx, Request{http.MethodPut, path, params})
}

// Delete shows the request and leaves out as it is.
func (d DryRun) Delete(ctx context.Context, path string, params url.Values, _ any) error {
	return d.show(ctx, Request{http.MethodDelete, path, params})
}

func (d DryRun) show(ctx context.Context, r Request) error {
	if err := check(r); err != nil {
		return &Error{Method: r.Method, Path: r.Path, class: ledger.ErrRefused, cause: err}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d.Show(r)
	return nil
}
