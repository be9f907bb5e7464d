package explore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"homeward/agent/ledger"
	"homeward/agent/proxmox"
)

// apiCall is one request to the API.
type apiCall struct {
	method, path string
	params       url.Values
}

// Key implements Request.
func (c apiCall) Key() string { return c.String() }

// String implements Request.
func (c apiCall) String() string {
	return proxmox.Request{Method: c.method, Path: c.path, Params: c.params}.String()
}

// Writes implements Request.
func (c apiCall) Writes() bool { return c.method != http.MethodGet }

// Guarded implements Request: nothing is.
func (c apiCall) Guarded() bool { return false }

// apiReply is what an apiCall came to.
type apiReply struct {
	data string
	err  error
}

// pooled is a machine that keeps its record in resource pools, where one call of a
// Book is several requests. Came are the replies to those that the call under way
// has made: with them it is made again from its beginning, up to its next request.
type pooled struct {
	owner   ledger.Owner
	machine ledger.Machine
	came    []apiReply
	next    *apiCall
}

// errOpen is what a book gets for a request that has no reply yet.
var errOpen = errors.New("not replied to yet")

// replay is an API that gives replies which came before, and keeps the first
// request beyond them.
type replay struct {
	came []apiReply
	open *apiCall
}

func (r *replay) call(method, path string, params url.Values, out any) error {
	switch {
	case r.open != nil:
		return errOpen
	case len(r.came) == 0:
		r.open = &apiCall{method, path, params}
		return errOpen
	}
	reply := r.came[0]
	r.came = r.came[1:]
	if reply.err != nil || out == nil {
		return reply.err
	}
	return json.Unmarshal([]byte(reply.data), out)
}

// Get implements proxmox.API.
func (r *replay) Get(_ context.Context, path string, params url.Values, out any) error {
	return r.call(http.MethodGet, path, params, out)
}

// Post implements proxmox.API.
func (r *replay) Post(_ context.Context, path string, params url.Values, out any) error {
	return r.call(http.MethodPost, path, params, out)
}

// Put implements proxmox.API.
func (r *replay) Put(_ context.Context, path string, params url.Values, out any) error {
	return r.call(http.MethodPut, path, params, out)
}

// Delete implements proxmox.API.
func (r *replay) Delete(_ context.Context, path string, params url.Values, out any) error {
	return r.call(http.MethodDelete, path, params, out)
}

// advance finds the next request, through as many calls of the book as need none.
func (p pooled) advance(name string) (pooled, error) {
	for p.machine.Next().Op != ledger.OpDone {
		api := &replay{came: p.came}
		book, err := proxmox.NewPoolBook(api, name, p.owner)
		if err != nil {
			return p, err
		}
		reply := p.machine.Next().Do(context.Background(), book)
		if api.open != nil {
			p.next = api.open
			return p, nil
		}
		p.machine, p.came = taken(p.machine, reply), nil
	}
	p.next, p.came = nil, nil
	return p, nil
}

// Next implements Actor.
func (p pooled) Next() Request {
	if p.next == nil {
		return nil
	}
	return *p.next
}

// Take implements Actor.
func (p pooled) Take(reply Reply) Actor {
	came, ok := reply.(apiReply)
	if !ok {
		came.err = fmt.Errorf("%T is no reply of the API", reply)
	}
	p.came = append(p.came[:len(p.came):len(p.came)], came)
	after, err := p.advance(recordName)
	if err != nil {
		// The book took the name and the owner when the process started.
		return p
	}
	return after
}

// Result implements Actor.
func (p pooled) Result() ledger.Result { return p.machine.Result() }

// Key implements Actor.
func (p pooled) Key() string { return fmt.Sprintf("%+v %+v", p.machine, p.came) }
