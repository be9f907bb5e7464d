package openstack

import (
	"errors"
	"strings"
	"testing"

	"homeward/agent/ledger"
)

func TestAMarkIsReadAsItWasWritten(t *testing.T) {
	for _, m := range []Mark{{owner, ingress}, {owner, kubeAPI}, {owner, Use{For: ForNetwork}}, {owner, Use{ForMachine, "edge-worker-01"}}} {
		got, err := ParseMark(m.String())
		if err != nil || got != m || m.check() != nil {
			t.Errorf("%s: read %+v, %v", m, got, err)
		}
	}
	if got := (Mark{owner, Use{ForMachine, "edge-worker-01"}}).String(); got != "homeward/1 owner=0123456789abcdef cluster=edge for=machine machine=edge-worker-01" {
		t.Errorf("it is %q", got)
	}
	if m, err := ParseMark("homeward/1 for=ingress cluster=edge later=1 owner=0123456789abcdef"); err != nil || m.Use != ingress {
		t.Errorf("in another order, with a later word: %v, %v", m, err)
	}
}

func TestWhatIsNoMark(t *testing.T) {
	for _, text := range []string{
		"", "edge", "homeward/2 owner=0123456789abcdef cluster=edge for=ingress", "homeward/1", "homeward/1 owner=0123456789abcdef cluster=edge",
		"homeward/1 owner=0123456789ABCDEF cluster=edge for=ingress", "homeward/1 owner=0123456789abcdef cluster=edge for=ingress for=kubeapi",
		"homeward/1 owner=0123456789abcdef cluster=edge for=machine", "homeward/1 owner=0123456789abcdef cluster=edge for=ingress machine=x",
		"homeward/1 owner=0123456789abcdef cluster=edge for=machine machine=X", "homeward/1 owner=0123456789abcdef cluster=edge for=everything",
		"homeward/1 owner=0123456789abcdef cluster=edge for=ingress " + strings.Repeat("x", maxMark),
	} {
		if m, err := ParseMark(text); !errors.Is(err, ledger.ErrNotOurs) || m != (Mark{}) {
			t.Errorf("%q is %+v, %v", text, m, err)
		}
	}
}

func FuzzParseMark(f *testing.F) {
	f.Add("homeward/1 owner=0123456789abcdef cluster=edge for=machine machine=edge-worker-01")
	f.Add("homeward/1 owner= cluster== for")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMark(text)
		if err != nil {
			return
		}
		again, err := ParseMark(m.String())
		if err != nil || again != m {
			t.Errorf("%q is %+v, which is read as %+v, %v", text, m, again, err)
		}
	})
}
