package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// Fault is what happens to a request instead of being passed on and answered.
type Fault struct {
	name string
	meet func(x *exchange) outcome
}

// String names the fault, as in [Request.Fault].
func (f Fault) String() string { return f.name }

// outcome is what the client gets.
type outcome struct {
	answer *answer // nil: the connection breaks
	cut    int     // with an answer: bytes of its body before the connection breaks; -1 for all
}

// answer is a whole answer.
type answer struct {
	status int
	header http.Header
	body   []byte
}

var broken = outcome{}

func whole(a *answer) outcome { return outcome{answer: a, cut: -1} }

// Drop breaks the connection before the server has the request. It calls then first.
func Drop(then ...func()) Fault {
	return Fault{"drop", func(*exchange) outcome {
		call(then)
		return broken
	}}
}

// Lose lets the server do the request and breaks the connection before its answer.
// It calls then between the two.
func Lose(then ...func()) Fault {
	return Fault{"lose", func(x *exchange) outcome {
		x.forward()
		call(then)
		return broken
	}}
}

// Hang keeps the request from the server and the client waiting, until the client
// gives up or the proxy is closed.
func Hang() Fault {
	return Fault{"hang", func(x *exchange) outcome {
		x.awaitGone()
		return broken
	}}
}

// HangDone lets the server do the request and keeps the client waiting.
func HangDone() Fault {
	return Fault{"hang when done", func(x *exchange) outcome {
		x.forward()
		x.awaitGone()
		return broken
	}}
}

// Before calls a function and then passes the request on as if there were no fault.
func Before(do func()) Fault {
	return Fault{"before", func(x *exchange) outcome {
		do()
		return whole(x.forward())
	}}
}

// After passes the request on and calls a function when it is done, before the
// client has the answer.
func After(do func()) Fault {
	return Fault{"after", func(x *exchange) outcome {
		a := x.forward()
		do()
		return whole(a)
	}}
}

// Cut lets the server do the request and breaks the connection after so many bytes
// of the answer's body; its headers are whole.
func Cut(bytes int) Fault {
	return Fault{"cut", func(x *exchange) outcome {
		return outcome{answer: x.forward(), cut: bytes}
	}}
}

// Late gives the client what instead says and keeps the request for the server until
// [Rule.Deliver]. A request that is never delivered is never done.
func Late(instead Fault) Fault {
	return Fault{"late, " + instead.name, func(x *exchange) outcome {
		x.rule.keep(x)
		return instead.meet(x)
	}}
}

// Gone breaks the connection, for [Late].
func Gone() Fault { return Drop() }

// Answer answers in the server's place with a body of a content type.
func Answer(status int, contentType, body string, header ...string) Fault {
	h := http.Header{"Content-Type": {contentType}}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return Fault{strconv.Itoa(status), func(*exchange) outcome {
		return whole(&answer{status: status, header: h, body: []byte(body)})
	}}
}

// Balancer answers as a balancer before the servers does, in HTML: 500, 502, 503, 504.
func Balancer(status int) Fault {
	return Answer(status, "text/html", fmt.Sprintf("<html><body><h1>%d %s</h1>\nThe request was not served.\n</body></html>\n", status, http.StatusText(status)))
}

// TooMany answers 429 and asks for a pause of so many seconds.
func TooMany(seconds int) Fault {
	return Answer(http.StatusTooManyRequests, "text/plain", "Too many requests\n", "Retry-After", strconv.Itoa(seconds))
}

// Refuse answers as Neutron refuses, with the type of the error.
func Refuse(status int, kind, message string) Fault {
	body, err := json.Marshal(map[string]any{"NeutronError": map[string]string{"type": kind, "message": message, "detail": ""}})
	if err != nil {
		panic(err) // strings can be encoded
	}
	return Answer(status, "application/json", string(body))
}

// Unauthorized answers as Keystone's filter before Neutron does when a token is no
// longer good.
func Unauthorized() Fault {
	return Answer(http.StatusUnauthorized, "application/json",
		`{"error": {"code": 401, "title": "Unauthorized", "message": "The request you have made requires authentication."}}`,
		"WWW-Authenticate", "Keystone uri=\"http://127.0.0.1/\"")
}

func call(functions []func()) {
	for _, f := range functions {
		f()
	}
}
