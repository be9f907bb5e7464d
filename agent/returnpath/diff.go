package returnpath

import (
	"slices"

	"homeward/netplan"
)

// Diff gives the steps from actual to desired, in the order in which they are
// to be done; none when the node is as it shall be. Applying them to a kernel
// that holds actual gives a state without a difference.
//
// manage says that rules and routes are ours. self is the agent's own stamp: a
// table written by a later agent with other settings is left alone ([Superseded]),
// and so is everything else.
func Diff(desired State, actual Actual, manage bool, self netplan.Stamp) []Step {
	if _, superseded := Superseded(self, actual); superseded {
		return nil
	}
	var steps []Step
	if l := desired.Uplink; l != nil && !l.Up {
		steps = append(steps, Step{Op: OpLinkUp, Link: *l})
	}
	if manage {
		steps = append(steps, additions(desired, actual)...)
	}
	if s, differs := diffTable(desired, actual, self); differs {
		steps = append(steps, s)
	}
	if manage {
		steps = append(steps, removals(desired, actual)...)
	}
	return steps
}

// Superseded gives the stamp of the table when a later agent with other
// settings wrote it: then this agent writes nothing.
func Superseded(self netplan.Stamp, actual Actual) (netplan.Stamp, bool) {
	s := actual.Table.Stamp
	if actual.TableErr != nil || s == nil || s.Settings == self.Settings {
		return netplan.Stamp{}, false
	}
	if s.Start == self.Start {
		// Both started in the same nanosecond; any order will do that both agree on.
		return *s, slices.Compare(s.Settings[:], self.Settings[:]) > 0
	}
	return *s, s.Start > self.Start
}

// diffTable gives the step that makes our table right.
func diffTable(desired State, actual Actual, self netplan.Stamp) (Step, bool) {
	if actual.TableErr != nil {
		return Step{}, false
	}
	listed := actual.Table
	why := differences(desired.Objects, listed.Objects)
	stamp := self
	if old := listed.Stamp; old != nil {
		switch {
		case old.Settings != self.Settings:
			why = append(why, Difference{netplan.KindTable, "written by an earlier agent with other settings"})
		case old.Start > self.Start:
			// Same settings: keep the later start, which others went by.
			stamp.Start = old.Start
		}
	}
	if len(why) == 0 {
		return Step{}, false
	}
	return Step{
		Op: OpTableReplace, Table: desired.Table, Stamp: stamp, Counters: listed.Counters, Reasons: why,
	}, true
}

// differences names what is missing, what is too much, and what stands in
// another order, in the order of the lists.
func differences(desired, actual []netplan.TableObject) []Difference {
	if slices.Equal(desired, actual) {
		return nil
	}
	if len(actual) == 0 {
		return []Difference{{netplan.KindTable, "table is missing"}}
	}
	var out []Difference
	for _, o := range without(desired, actual) {
		out = append(out, Difference{o.Kind, "missing " + describe(o)})
	}
	for _, o := range without(actual, desired) {
		out = append(out, Difference{o.Kind, "foreign " + describe(o)})
	}
	if out == nil {
		out = append(out, Difference{netplan.KindRule, "rules in another order"})
	}
	return out
}

func describe(o netplan.TableObject) string {
	s := string(o.Kind)
	if o.Where != "" {
		s += " in " + o.Where
	}
	return s + ": " + o.Text
}

// without gives what of a is not in b; each object of b cancels one of a.
func without(a, b []netplan.TableObject) []netplan.TableObject {
	left := make(map[netplan.TableObject]int, len(b))
	for _, o := range b {
		left[o]++
	}
	var out []netplan.TableObject
	for _, o := range a {
		if left[o] > 0 {
			left[o]--
			continue
		}
		out = append(out, o)
	}
	return out
}
