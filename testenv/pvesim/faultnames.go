package pvesim

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

// NamedFault is a fault that can be asked for by name.
type NamedFault struct {
	Name string
	// What happens, for people.
	What string

	fault Fault
	reads bool // reads fail as well
}

// NamedFaults are those that there are.
func NamedFaults() []NamedFault {
	return []NamedFault{
		{Name: "no-quorum", What: "writes are refused: the cluster has no quorum", fault: Fault{Refuse: RefuseNoQuorum}},
		{Name: "lock-timeout", What: "writes are refused: somebody else has the lock", fault: Fault{Refuse: RefuseLock}},
		{Name: "lost-answer", What: "writes are made, and the answer is lost", fault: Fault{Answer: AnswerTimedOut}},
		{Name: "lost-write", What: "writes are not made, and the answer is lost", fault: Fault{Apply: ApplyNever, Answer: AnswerTimedOut}},
		{Name: "unavailable", What: "nothing is answered, reads neither: no route to the node", fault: Fault{Apply: ApplyNever, Answer: AnswerNoRoute}, reads: true},
	}
}

// ParseFaults reads NAME or NAME:EVERY, and gives a hook by which each of them
// strikes every so many of the requests that it can strike: the first is the
// EVERYth. Of several that strike one request the first wins.
func ParseFaults(names []string) (func(Request) Fault, error) {
	var strikes []func(Request) (Fault, bool)
	for _, text := range names {
		name, count, counted := strings.Cut(text, ":")
		every := uint64(1)
		if counted {
			n, err := strconv.ParseUint(count, 10, 31)
			if err != nil || n == 0 {
				return nil, fmt.Errorf("%s: %q is not how many requests to count, 1 or more", text, count)
			}
			every = n
		}
		named, err := faultNamed(name)
		if err != nil {
			return nil, err
		}
		var seen atomic.Uint64
		strikes = append(strikes, func(r Request) (Fault, bool) {
			if r.Method == http.MethodGet && !named.reads {
				return Fault{}, false
			}
			return named.fault, seen.Add(1)%every == 0
		})
	}
	return func(r Request) Fault {
		var worst Fault
		for i := len(strikes) - 1; i >= 0; i-- { // all count, whoever strikes
			if f, hit := strikes[i](r); hit {
				worst = f
			}
		}
		return worst
	}, nil
}

func faultNamed(name string) (NamedFault, error) {
	var known []string
	for _, f := range NamedFaults() {
		if f.Name == name {
			return f, nil
		}
		known = append(known, f.Name)
	}
	return NamedFault{}, fmt.Errorf("no fault %q: there are %s", name, strings.Join(known, ", "))
}
