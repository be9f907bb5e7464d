package pvesim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// inbound is a request as it came off the wire.
type inbound struct {
	method, authorization, contentType string
	url                                *url.URL
	body                               []byte
	chunked                            bool
}

// outbound is what goes onto the wire.
type outbound struct {
	status   int
	reason   string
	header   http.Header
	body     []byte
	drop     bool // no answer at all
	truncate bool // half of the body
}

const apiRoot = "/api2/json"

// exchange answers one request to a node's endpoint.
func (s *Sim) exchange(node string, in *inbound) *outbound {
	s.journal.begin()
	defer s.journal.end()
	s.sleep(s.options.Times.Latency)
	path, ok := strings.CutPrefix(in.url.Path, apiRoot)
	if !ok {
		return s.unknown(in.method, in.url.Path)
	}
	s.mu.Lock()
	token, err := s.state.authenticate(in.authorization)
	s.mu.Unlock()
	if err != nil {
		s.journal.note(func(j *journal) { j.refused++ })
		s.sleep(s.options.Times.BadToken)
		return failed(err)
	}
	if problem := in.refused(); problem != nil {
		return failed(problem)
	}
	c := &call{sim: s, node: node, path: path, token: token, params: map[string]string{}, lists: map[string][]string{}}
	c.method = s.schema.find(in.method, path, c.params)
	if err := in.params(c); err != nil {
		return failed(err)
	}
	request := Request{N: int(s.serial.Add(1)), Node: node, Token: token.ID, Method: in.method, Path: path}
	if !s.options.WithoutLog || s.options.Hook != nil || s.options.Observe != nil {
		request.Params = c.shown()
	}
	var f Fault
	if s.options.Hook != nil {
		f = s.options.Hook(request)
	}
	var out *outbound
	if c.method == nil {
		out = s.unknown(in.method, path)
	} else {
		out = s.perform(c, f)
	}
	record := Record{Request: request, Status: out.status, Dropped: out.drop}
	if !s.options.WithoutLog {
		s.journal.note(func(j *journal) { j.records = append(j.records, record) })
	}
	if s.options.Observe != nil {
		s.options.Observe(record)
	}
	return out
}

// perform lets a request take effect, and answers it, both as the fault says.
func (s *Sim) perform(c *call, f Fault) *outbound {
	s.sleep(f.Delay)
	var data any
	var err error
	switch f.Apply {
	case ApplyNow:
		data, err = s.answer(c, f.Refuse)
	case ApplyLater:
		s.mu.Lock()
		s.late = append(s.late, func() { _, _ = s.answer(c, f.Refuse) }) // nobody hears how it went
		s.mu.Unlock()
	}
	right := succeeded(data)
	if err != nil {
		right = failed(err)
	}
	switch f.Answer {
	case AnswerRight:
		return right
	case AnswerNoRoute:
		return failed(&problem{status: statusNoRoute, message: "No route to host", bare: true})
	case AnswerTimedOut:
		s.sleep(s.options.Times.Hung)
		return failed(&problem{status: statusTimedOut, message: "Connection timed out", bare: true})
	case AnswerTruncated:
		right.truncate = true
		return right
	}
	return hostile(f)
}

// unknown refuses what the simulator does not have, so that nobody mistakes it for
// an answer, and counts it.
func (s *Sim) unknown(method, path string) *outbound {
	s.journal.note(func(j *journal) { j.unknown = append(j.unknown, method+" "+path) })
	return failed(&problem{status: http.StatusNotImplemented, message: fmt.Sprintf("Method '%s %s' not implemented: the simulator does not know it", method, path)})
}

func succeeded(data any) *outbound {
	return encoded(http.StatusOK, "OK", map[string]any{"data": data})
}

func failed(err error) *outbound {
	p, ok := err.(*problem)
	if !ok {
		p = &problem{status: http.StatusInternalServerError, message: err.Error()}
	}
	if p.bare {
		return &outbound{status: p.status, reason: oneLine(p.message), header: http.Header{}}
	}
	body := map[string]any{"data": nil, "message": p.message + "\n"}
	if p.fields != nil {
		body["errors"] = p.fields
	}
	return encoded(p.status, oneLine(p.message), body)
}

// oneLine is a message as the reason in a status line.
func oneLine(message string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, message)
}

func encoded(status int, reason string, body any) *outbound {
	text, err := json.Marshal(body)
	if err != nil {
		return failed(fmt.Errorf("writing the answer: %w", err))
	}
	return &outbound{status: status, reason: reason, body: text, header: http.Header{"Content-Type": {"application/json;charset=UTF-8"}}}
}
