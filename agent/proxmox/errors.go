package proxmox

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"homeward/agent/ledger"
)

// ErrNoData is what a read fails with when the server says null where a value
// must stand.
var ErrNoData = errors.New("the answer holds no data")

// Error is a request that failed. errors.Is finds one of ledger's errors in it
// where the outcome is one of them, and the context's error where that ended it. A
// read is never ledger.ErrUnknown: nothing depends on it.
type Error struct {
	Method, Path string
	// Status is the HTTP status, 595 and 596 included; zero when no answer came.
	Status int
	// Message is the server's, in one line without control characters or secrets,
	// at most 300 bytes; empty when it gave none.
	Message string
	// Parameters has what the server said of single parameters.
	Parameters map[string]string

	class error // one of ledger's errors, or nil
	cause error // what happened on the way, or nil
	hint  string
}

// Error says what was asked, what happened, and what an operator can do.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: ", e.Method, e.Path)
	switch {
	case e.Status != 0:
		fmt.Fprintf(&b, "the server answered %d", e.Status)
		if e.Message != "" {
			b.WriteString(" " + e.Message)
		}
		if e.cause != nil {
			fmt.Fprintf(&b, ": %v", e.cause)
		}
	case e.cause != nil:
		b.WriteString(e.cause.Error())
	}
	if e.hint != "" {
		b.WriteString(": " + e.hint)
	}
	if errors.Is(e.class, ledger.ErrUnknown) {
		b.WriteString(" (whether it was done is unknown)")
	}
	return b.String()
}

// Unwrap gives the class and the cause.
func (e *Error) Unwrap() []error {
	var list []error
	for _, err := range []error{e.class, e.cause} {
		if err != nil {
			list = append(list, err)
		}
	}
	return list
}

// said is what the server's words mean, whatever the status beside them: it answers
// 500 and 400 for nearly everything.
type said struct {
	// text is a part of the message or of what is said of a parameter, in lower case.
	text  string
	class error
	hint  string
}

// sayings are tried in order; the first that fits counts.
var sayings = []said{
	// The lock was never had, so nothing was written.
	{text: "no quorum", class: ledger.ErrRefused, hint: "the Proxmox cluster has no quorum and takes no writes: see pvecm status"},
	{text: "cluster filesystem not online", class: ledger.ErrRefused, hint: "pmxcfs does not run on that node: see systemctl status pve-cluster"},
	{text: "got lock request timeout", class: ledger.ErrBusy, hint: "others are writing: try again"},
	{text: "got lock timeout", class: ledger.ErrBusy, hint: "others are writing: try again"},
	{text: "got timeout", class: ledger.ErrBusy, hint: "others are writing: try again"},
	{text: "is locked (", class: ledger.ErrBusy, hint: "something else is at work on the guest: try again when it is done"},
	{text: "can't find any subnet", class: ledger.ErrRefused, hint: "the VNet has no subnet with that address, or it is not applied yet"},
	// The lock was had, and the time ran out at some point of the work.
	{text: "locked command timed out", class: ledger.ErrUnknown},
	{text: "detected modified configuration", class: ledger.ErrStale},
	{text: "already exist", class: ledger.ErrTaken},
	{text: "not empty", class: ledger.ErrTaken},
	{text: "no such", class: ledger.ErrGone},
	{text: "does not exist", class: ledger.ErrGone},
	{text: "doesn't exist", class: ledger.ErrGone},
	{text: "don't exist", class: ledger.ErrGone},
	{text: "unable to find configuration file", class: ledger.ErrGone},
}

// judge sets class and hint by what the server answered.
func (e *Error) judge() {
	switch {
	case e.Status == http.StatusUnauthorized:
		e.class, e.hint = ledger.ErrRefused, "it does not take the token: look at its id (user@realm!name), its secret and its date of expiry"
	case e.Status == http.StatusForbidden:
		e.class, e.hint = ledger.ErrRefused, "the token lacks a right: `homeward proxmox permissions` prints what it needs"
	case e.Status == http.StatusTooManyRequests:
		e.class, e.hint = ledger.ErrBusy, "too many requests: try again later"
	case e.Status == 595 || e.Status == 596:
		e.class, e.hint = ledger.ErrUnknown, "the node that has to do it does not answer"
	case e.Status == http.StatusBadRequest || e.Status == http.StatusInternalServerError:
		e.judgeWords()
	case e.Status == http.StatusNotFound:
		e.class = ledger.ErrGone
	case e.Status == http.StatusTemporaryRedirect || e.Status == http.StatusPermanentRedirect:
		e.class = ledger.ErrRefused
	case e.Status >= 400 && e.Status < 500 && e.Status != http.StatusRequestTimeout, e.Status == http.StatusNotImplemented:
		e.class = ledger.ErrRefused
	default:
		e.class = ledger.ErrUnknown
	}
	e.forgive()
}

// judgeWords looks for what is known. A 400 is what the server checks before it
// does anything; a 500 with other words may come from the middle of it.
func (e *Error) judgeWords() {
	words := strings.ToLower(e.Message)
	for _, text := range e.Parameters {
		words += "\n" + strings.ToLower(text)
	}
	for _, s := range sayings {
		if strings.Contains(words, s.text) {
			e.class, e.hint = s.class, s.hint
			return
		}
	}
	e.class = ledger.ErrUnknown
	if e.Status == http.StatusBadRequest {
		e.class = ledger.ErrRefused
	}
}

// forgive takes the unknown from a read.
func (e *Error) forgive() {
	if e.Method == http.MethodGet && errors.Is(e.class, ledger.ErrUnknown) {
		e.class = nil
	}
}
