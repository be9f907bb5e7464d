package faults

import (
	"net/http"
	"path"
)

// Service is one of the two APIs.
type Service string

// The APIs behind the proxy.
const (
	Identity Service = "identity" // Keystone
	Network  Service = "network"  // Neutron
)

// Write stands for every method but GET and HEAD in [Match].
const Write = "write"

// Match says which requests a rule is about; what is empty matches all.
type Match struct {
	Service Service
	Method  string // "POST", or [Write]
	Path    string // a pattern of path.Match: "/v2.0/ports/*"
	// From is the first of the matching requests that meets the fault, counted from
	// 1 since the rule was added; 0 is 1.
	From int
	// Times is how many of them meet it from there on; 0 is one, [Always] is all.
	Times int
}

// Always is for [Match.Times].
const Always = -1

// covers says whether the rule is about such a request.
func (m Match) covers(r Request) bool {
	if m.Service != "" && m.Service != r.Service {
		return false
	}
	write := r.Method != http.MethodGet && r.Method != http.MethodHead
	if m.Method != "" && m.Method != r.Method && (m.Method != Write || !write) {
		return false
	}
	if m.Path == "" {
		return true
	}
	ok, err := path.Match(m.Path, r.Path)
	return ok && err == nil
}

// meets says whether the n-th of the matching requests meets the fault.
func (m Match) meets(n int) bool {
	from, times := max(m.From, 1), m.Times
	if times == 0 {
		times = 1
	}
	return n >= from && (times == Always || n < from+times)
}
