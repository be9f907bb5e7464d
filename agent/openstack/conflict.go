package openstack

import (
	"fmt"

	"homeward/agent/ledger"
)

// Blame is whose a conflict is to solve.
type Blame string

// The two kinds of conflict.
const (
	// Foreign: somebody else has what the plan needs.
	Foreign Blame = "taken"
	// Wrong: the plan contradicts what the cloud has, and cannot be followed.
	Wrong Blame = "plan"
)

// Conflict is one thing that stands against a plan, or against a release.
type Conflict struct {
	Blame Blame `json:"blame"`
	// Kind, Name, ID and Address are the object's; empty where there is none.
	Kind    Kind   `json:"kind,omitempty"`
	Name    string `json:"name,omitempty"`
	ID      string `json:"id,omitempty"`
	Address string `json:"address,omitempty"`
	// Message says what is wrong and whose the object is, Remedy what to do.
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

// String is both as one line.
func (c Conflict) String() string { return c.Message + ": " + c.Remedy }

// conflict is one about an object.
func conflict(kind Kind, o Object, remedy, format string, args ...any) Conflict {
	return Conflict{Blame: Foreign, Kind: kind, Name: o.Name, ID: o.ID, Message: fmt.Sprintf(format, args...), Remedy: remedy}
}

func (c Conflict) at(address string) Conflict { c.Address = address; return c }
func (c Conflict) wrong() Conflict            { c.Blame = Wrong; return c }

// named is an object as a message names it: "network edge (4f1d...)".
func named(kind Kind, o Object) string {
	if o.Name == "" {
		return fmt.Sprintf("%s %s", kind, o.ID)
	}
	return fmt.Sprintf("%s %s (%s)", kind, o.Name, o.ID)
}

// whose says of an object that is not ours whose it is.
func whose(o Object, owner ledger.Owner) string {
	m, err := ParseMark(o.Description)
	switch {
	case err != nil:
		return "it has no description of Homeward's, so somebody else made it"
	case m.Owner == owner:
		return "it is this cluster's, for " + m.what()
	case m.Owner.Cluster == owner.Cluster:
		return fmt.Sprintf("it belongs to a cluster of the same name with another id (%s)", m.Owner.ID)
	}
	return fmt.Sprintf("it belongs to cluster %s (id %s)", m.Owner.Cluster, m.Owner.ID)
}

// what says what a mark is for.
func (u Use) what() string {
	if u.For == ForMachine {
		return "machine " + u.Machine
	}
	return string(u.For)
}

// namesake is the conflict of an object that has only our name.
func namesake(kind Kind, o Object, owner ledger.Owner) Conflict {
	remedy := "rename or delete it, or give the cluster another name"
	if m, err := ParseMark(o.Description); err == nil && m.Owner.Cluster == owner.Cluster {
		remedy = fmt.Sprintf("if this is the same cluster, put its homeward.id (%s) beside cluster.yaml; else give this one another name, or let the other release", m.Owner.ID)
	}
	return conflict(kind, o, remedy, "%s has the name of this cluster's: %s", named(kind, o), whose(o, owner))
}
