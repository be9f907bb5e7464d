//go:build linux

package main

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"homeward/agent/returnpath"
)

// lookAgain makes the agent pass twice, so that one pass began after what the
// caller did; the kernel tells nobody of a changed sysctl.
func (p *process) lookAgain() returnpath.Status {
	p.b.t.Helper()
	poke := netip.MustParsePrefix("192.0.2.1/32")
	s := p.await("alive", func(returnpath.Status) bool { return true })
	for _, change := range []func(string, netip.Prefix) error{p.b.node.AddAddress, p.b.node.RemoveAddress} {
		passes := s.Passes
		p.b.do(change("lo", poke))
		s = p.await("looked again", func(s returnpath.Status) bool { return s.Passes > passes })
	}
	return s
}

// TestReversePathIsReportedAsTheWireHasIt goes through every value of rp_filter and
// src_valid_mark on the external NIC, the private NIC and the pod's link, asks the
// backend whose packets come in there, and holds that the agent is ready exactly
// where it answers.
func TestReversePathIsReportedAsTheWireHasIt(t *testing.T) {
	b := newBench(t)
	p := b.start("--resync=1h")
	services := b.MatrixServices(b.node)
	for _, link := range []struct {
		name    string
		service int
	}{{b.node.ExternalLink, 1}, {b.node.PrivateLink, 2}, {podLink, 0}} {
		for filter := range 3 {
			for mark := range 2 {
				name := fmt.Sprintf("%s: rp_filter=%d src_valid_mark=%d", link.name, filter, mark)
				b.do(b.node.SetSysctl("net/ipv4/conf/"+link.name+"/rp_filter", strconv.Itoa(filter)))
				b.do(b.node.SetSysctl("net/ipv4/conf/"+link.name+"/src_valid_mark", strconv.Itoa(mark)))
				bad := filter == 1 && (link.name == b.node.ExternalLink || mark == 1)
				if got := b.answers(services[link.service], !bad); got == bad {
					t.Errorf("%s: answered %v", name, got)
				}
				s := p.lookAgain()
				if s.Ready == bad {
					t.Errorf("%s: ready %v, problems %+v", name, s.Ready, s.Problems)
				}
				remedy := "net.ipv4.conf." + link.name + ".rp_filter=2"
				if bad && (!slices.Equal(kinds(s), []returnpath.ProblemKind{returnpath.ProblemRPFilter}) ||
					!strings.Contains(s.Problems[0].Text, "link "+name) || !strings.Contains(s.Problems[0].Remedy, remedy)) {
					t.Errorf("%s: problems %+v, want the remedy %q", name, s.Problems, remedy)
				}
			}
		}
		b.do(b.node.SetSysctl("net/ipv4/conf/"+link.name+"/rp_filter", "0"))
		b.do(b.node.SetSysctl("net/ipv4/conf/"+link.name+"/src_valid_mark", "0"))
	}
}

// TestTheRemedyHelps does what the agent says.
func TestTheRemedyHelps(t *testing.T) {
	b := newBench(t)
	for _, link := range []string{b.node.PrivateLink, podLink} {
		b.strict(link)
	}
	p := b.startNode(b.flags("--routes=manage")...)
	s := p.await("the filters reported", func(s returnpath.Status) bool { return len(s.Problems) == 2 })
	for _, problem := range s.Problems {
		_, setting, _ := strings.Cut(problem.Remedy, "set ")
		setting, _, _ = strings.Cut(setting, ",")
		key, value, ok := strings.Cut(setting, "=")
		if !ok {
			t.Fatalf("no setting in %q", problem.Remedy)
		}
		b.do(b.node.SetSysctl(strings.ReplaceAll(key, ".", "/"), value))
	}
	if s := p.lookAgain(); !s.Ready {
		t.Errorf("problems %+v", s.Problems)
	}
	b.allHome()
}

// podLink is the node's side of its pod's veth.
const podLink = "veth-pod"
