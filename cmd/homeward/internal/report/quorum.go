package report

import "fmt"

// Etcd is a number of members that are there, of those that are declared. Talos runs
// one on each control plane.
type Etcd struct {
	Members int `json:"members"`
	There   int `json:"there"`
}

// Quorum is how many members must be there to write: more than half.
func (e Etcd) Quorum() int { return e.Members/2 + 1 }

// Writes says that the members that are there are a quorum.
func (e Etcd) Writes() bool { return e.There >= e.Quorum() }

// Spare is how many more may be lost; below zero is how many are lacking.
func (e Etcd) Spare() int { return e.There - e.Quorum() }

// Without is what is left when so many more are lost.
func (e Etcd) Without(n int) Etcd { return Etcd{e.Members, max(e.There-n, 0)} }

// String says it with its arithmetic: "2 of 3 members left, quorum is 2".
func (e Etcd) String() string {
	return fmt.Sprintf("%d of %d etcd members left, quorum is %d", e.There, e.Members, e.Quorum())
}

// Verdict is yes or no, or not known.
type Verdict string

// The verdicts.
const (
	Kept       Verdict = "kept"
	NotKept    Verdict = "lost"
	Unforeseen Verdict = "unknown"
)

// keeps judges a loss of so many members for sure, and of so many more perhaps.
func (e Etcd) keeps(sure, perhaps int) Verdict {
	switch {
	case !e.Without(sure).Writes():
		return NotKept
	case e.Without(sure + perhaps).Writes():
		return Kept
	}
	return Unforeseen
}

// mostTogether is how many members one failure may take, so that the others still
// write.
func (e Etcd) mostTogether() int { return e.Members - e.Quorum() }
