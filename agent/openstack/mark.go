package openstack

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"homeward/agent/ledger"
)

// version is the first word of every mark. Another number is another grammar, so
// what carries it is somebody else's.
const version = "homeward/1"

// maxMark is how long a description may be: Neutron's columns have 255 characters.
const maxMark = 255

// Purpose is what an object of ours is for.
type Purpose string

// The purposes.
const (
	ForNetwork Purpose = "network"
	ForSubnet  Purpose = "subnet"
	ForRouter  Purpose = "router"
	ForGroup   Purpose = "group"
	ForRule    Purpose = "rule"
	ForKubeAPI Purpose = "kubeapi"
	ForIngress Purpose = "ingress"
	ForMachine Purpose = "machine"
)

// Use is what a port or a floating IP is for: one cluster has at most one port of each.
type Use struct {
	For Purpose
	// Machine is the hostname with ForMachine, else empty.
	Machine string
}

// The uses of the two reserved ports.
var (
	kubeAPI = Use{For: ForKubeAPI}
	ingress = Use{For: ForIngress}
)

// Mark says whose an object is and what for. It is the object's description.
type Mark struct {
	Owner ledger.Owner
	Use
}

// The words of a mark besides the version, in the order in which they are written.
// They are read in any order.
const (
	wordOwner   = "owner"
	wordCluster = "cluster"
	wordFor     = "for"
	wordMachine = "machine"
)

var hostname = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// String is the description of an object with this mark:
// "homeward/1 owner=0123456789abcdef cluster=edge for=machine machine=edge-worker-01".
func (m Mark) String() string {
	words := []string{version, wordOwner + "=" + m.Owner.ID, wordCluster + "=" + m.Owner.Cluster, wordFor + "=" + string(m.For)}
	if m.Machine != "" {
		words = append(words, wordMachine+"="+m.Machine)
	}
	return strings.Join(words, " ")
}

// check says whether the mark can be written and read again.
func (m Mark) check() error {
	text := m.String()
	if len(text) > maxMark {
		return fmt.Errorf("the description of %s has %d characters, and Neutron takes %d: give the cluster a shorter name", cmp.Or(m.Machine, string(m.For)), len(text), maxMark)
	}
	if again, err := ParseMark(text); err != nil || again != m {
		return errors.Join(fmt.Errorf("%q does not do as a description", text), err)
	}
	return nil
}

// ParseMark reads a description. It fails with ledger.ErrNotOurs where that is none of
// ours: another version, a word that is missing or there twice, or a value that we
// would not have written. Words of a later version are passed over.
func ParseMark(description string) (Mark, error) {
	var m Mark
	words := strings.Split(description, " ")
	if words[0] != version || len(description) > maxMark {
		return Mark{}, notOurs("it does not begin with " + version)
	}
	seen := map[string]bool{}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		if seen[key] {
			return Mark{}, notOurs(key + " stands there twice")
		}
		seen[key] = true
		m.take(key, value)
	}
	switch {
	case m.Owner.Check() != nil:
		return Mark{}, notOurs("it names no owner")
	case m.For == "":
		return Mark{}, notOurs("it does not say what for")
	case (m.For == ForMachine) != (m.Machine != ""), m.Machine != "" && !hostname.MatchString(m.Machine):
		return Mark{}, notOurs("its machine is none")
	}
	return m, nil
}

func (m *Mark) take(key, value string) {
	switch key {
	case wordOwner:
		m.Owner.ID = value
	case wordCluster:
		m.Owner.Cluster = value
	case wordFor:
		for _, p := range []Purpose{ForNetwork, ForSubnet, ForRouter, ForGroup, ForRule, ForKubeAPI, ForIngress, ForMachine} {
			if string(p) == value {
				m.For = p
			}
		}
	case wordMachine:
		m.Machine = value
	}
}

func notOurs(reason string) error { return fmt.Errorf("%w: %s", ledger.ErrNotOurs, reason) }

// tagOf is the tag on everything of an owner: `openstack port list --tags` finds it.
// Neutron takes no comma and no slash in one, and 60 characters.
func tagOf(o ledger.Owner) string { return tagPrefix + o.ID }

const tagPrefix = "homeward:"
