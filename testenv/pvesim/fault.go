package pvesim

import "time"

// Request is what a hook decides about.
type Request struct {
	// N counts the requests with a good token from 1.
	N int
	// Node is whose endpoint was asked, Token the id of who asked.
	Node, Token string
	// Method and Path as they came, unescaped and without /api2/json.
	Method, Path string
	// Params are those of path, query and body, not yet checked.
	Params map[string]string
}

// Fault is what goes wrong with a request. The zero value is nothing; the parts
// can be combined.
type Fault struct {
	// Delay passes before anything else happens.
	Delay time.Duration
	// Apply says whether and when the request takes effect.
	Apply Apply
	// Refuse lets a write fail in a way that says that nothing was written.
	Refuse Refusal
	// Answer is what the client gets instead of the right answer.
	Answer Answer
	// Location is where AnswerRedirect sends the client.
	Location string
}

// Apply is whether a request takes effect.
type Apply int

// The ways.
const (
	ApplyNow   Apply = iota // before the answer
	ApplyNever              // not at all
	ApplyLater              // when Settle is called: a hung node that wakes up
)

// Refusal is a failure of the lock that writes are made under.
type Refusal int

// The refusals; they do nothing to a read.
const (
	RefuseNot Refusal = iota
	RefuseLock
	RefuseNoQuorum
)

// Answer is what the client gets.
type Answer int

// The answers.
const (
	AnswerRight      Answer = iota
	AnswerDrop              // the connection ends without an answer
	AnswerNoRoute           // status 595
	AnswerTimedOut          // status 596, after Times.Hung
	AnswerHTML              // a page, with status 200
	AnswerTruncated         // half of the right answer, then the connection ends
	AnswerHuge              // 64 MiB of JSON
	AnswerWrongTypes        // JSON of other types than the schema's
	AnswerRedirect          // to Location
)

// hugeSize is how much AnswerHuge sends.
const hugeSize = 64 << 20

// The statuses that only Proxmox VE knows.
const (
	statusNoRoute  = 595
	statusTimedOut = 596
)
