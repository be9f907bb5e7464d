//go:build linux

package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"homeward/agent/returnpath"
	"homeward/netplan"
	"homeward/talosgen"
	"homeward/testenv/neighbours"
	"homeward/testenv/netlab"
	"homeward/testenv/vm/guest"
)

// needNeighbours skips where the programs that the replays run are missing.
func needNeighbours(t *testing.T) {
	t.Helper()
	if guest.Inside() {
		t.Skip("iptables, which most neighbours use, is not in the virtual machine")
	}
	for _, name := range neighbours.Programs() {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal("CI needs this program:", err)
			}
			t.Skip("the replays of neighbours need it:", err)
		}
	}
}

// estate is a bench with a neighbour on its node.
type estate struct {
	*bench
	image    string
	pod      *pod
	resident *neighbours.Resident
	// installed is what is on the node besides ours while the neighbour is installed.
	installed []string
}

func newEstate(t *testing.T, n neighbours.Neighbour, image string) *estate {
	t.Helper()
	e := &estate{bench: newBench(t), image: image}
	e.lossless()
	e.do(e.node.Steer()) // which Talos does, of the patch that has the pod
	r, err := n.Settle(t.Context(), e.Cluster, e.node)
	e.do(err)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	e.resident = r
	return e
}

func (e *estate) startOurs() {
	e.t.Helper()
	e.pod = e.startPod(e.image)
	e.pod.awaitReady()
}

func (e *estate) install() {
	e.t.Helper()
	e.do(e.resident.Install(e.t.Context()))
}

// theirsStands holds that the neighbour's objects are what they were, and that its
// traffic goes its way.
func (e *estate) theirsStands(when string) {
	e.t.Helper()
	now := e.list()
	if e.installed == nil {
		e.installed = now
	}
	if diff := cmp.Diff(e.installed, now); diff != "" {
		e.t.Errorf("%s: the neighbour's objects (-before +after):\n%s", when, diff)
	}
	if err := e.resident.Ask(e.t.Context()); err != nil {
		e.t.Errorf("%s: %v", when, err)
	}
}

func (e *estate) list() []string {
	e.t.Helper()
	l, err := neighbours.List(e.t.Context(), e.node)
	e.do(err)
	return l
}

// unanswerable says that a kind of service cannot be answered beside this neighbour.
func (e *estate) unanswerable(kind netlab.BackendKind, p netlab.Protocol) bool {
	return e.resident.TakesDefault && kind == netlab.HostHere && p == netlab.UDP
}

// home holds that every reply that can goes home.
func (e *estate) home(when string) {
	e.t.Helper()
	for _, c := range e.cells() {
		if !e.unanswerable(c.Backend, c.Protocol) && (!c.Answered || c.Path != netlab.PathExternal) {
			e.t.Errorf("%s: %s: answered %v, replies left by %s", when, c, c.Answered, c.Path)
		}
	}
}

func (e *estate) cells() []netlab.Cell {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), patience)
	defer cancel()
	cells, err := e.Matrix(ctx, e.node)
	e.do(err)
	return cells
}

// few are loads on living and fresh connections to every kind of backend.
func (e *estate) few() *loads {
	e.t.Helper()
	l := &loads{b: e.bench, all: map[string]*netlab.Load{}, results: map[string]netlab.LoadResult{}}
	ctx, cancel := context.WithTimeout(e.t.Context(), patience)
	defer cancel()
	kinds := []netlab.BackendKind{netlab.PodHere, netlab.HostHere, netlab.PodThere, netlab.HostThere}
	for i, s := range e.MatrixServices(e.node)[:len(kinds)] {
		for _, c := range []struct {
			protocol    netlab.Protocol
			connections int
		}{{netlab.TCP, 2}, {netlab.UDP, 0}} {
			if e.unanswerable(kinds[i], c.protocol) {
				continue
			}
			load, err := netlab.StartLoad(ctx, netlab.LoadConfig{
				From: e.Behind, Protocol: c.protocol, Rate: 10, Connections: c.connections, Drain: e.drain,
				Target: netip.AddrPortFrom(s.Address, s.Port),
			})
			e.do(err)
			l.all[fmt.Sprintf("%s, %s", kinds[i], c.protocol)] = load
		}
	}
	for name, load := range l.all {
		if err := load.WaitReplies(ctx, 3); err != nil {
			e.t.Fatalf("%s: %v", name, err)
		}
	}
	return l
}

// cleanUpOurs runs the container of the generated clean-up pod, after the static pod
// has ended.
func (e *estate) cleanUpOurs() {
	e.t.Helper()
	e.pod.end()
	p, _ := e.plan(e.image)
	text, err := talosgen.CleanupPod(p)
	e.do(err)
	var object corev1.Pod
	e.do(yaml.Unmarshal(text, &object))
	c := object.Spec.Containers[0]
	out, err := e.pod.command(e.t.Context(), append(c.Command, c.Args...)).CombinedOutput()
	if err != nil {
		e.t.Fatalf("cleaning up ours: %v\n%s", err, out)
	}
	if tables := e.nft("list tables"); strings.Contains(tables, netplan.NFTablesTable) {
		e.t.Fatalf("cleaned up, and yet there:\n%s", tables)
	}
}

// astray holds that replies do not go home where ours is not installed.
func (e *estate) astray() {
	e.t.Helper()
	for _, c := range e.cells() {
		if c.Client == netlab.ClientBehind && c.Answered {
			e.t.Errorf("%s: answered without ours", c)
		}
	}
}

// marksTogether holds that replies leave with our bit and the neighbour's.
func (e *estate) marksTogether() {
	e.t.Helper()
	theirs := e.resident.OnReplies
	if theirs == (neighbours.Bits{}) {
		return
	}
	mask, mark := uint32(netplan.DefaultMask)|theirs.Mask, uint32(netplan.DefaultMark)|theirs.Mark
	e.nft(fmt.Sprintf(`table inet neighbours_witness {
	chain out {
		type filter hook postrouting priority 300; policy accept;
		oifname %q meta mark and 0x%x == 0x%x counter
	}
}`, e.node.ExternalLink, mask, mark))
	e.home("with a witness")
	if text := e.nft("list", "table", "inet", "neighbours_witness"); strings.Contains(text, "counter packets 0 ") {
		e.t.Errorf("no reply left with 0x%x/0x%x:\n%s", mark, mask, text)
	}
	e.nft("delete table inet neighbours_witness")
}

// TestNeighbours lets each neighbour come before and after both kinds of pod, restarts
// and cleans up each of the two beside the other, and holds that replies go home where
// ours is installed, none is lost, and the neighbour has what it had.
func TestNeighbours(t *testing.T) {
	needNeighbours(t)
	orders := map[string]func(*estate){
		"ours first":   func(e *estate) { e.startOurs(); e.install() },
		"theirs first": func(e *estate) { e.install(); e.startOurs() },
	}
	for _, n := range neighbours.All() {
		for kind, image := range map[string]string{"agent": agentImage, "nft pod": nftPod} {
			for order, come := range orders {
				t.Run(n.Name+"/"+kind+"/"+order, func(t *testing.T) {
					t.Parallel()
					e := newEstate(t, n, image)
					come(e)
					e.theirsStands("side by side")
					e.home("side by side")
					e.marksTogether()
					e.restarts()
					e.cleanUps()
				})
			}
		}
	}
}

// restarts restarts each of the two under load.
func (e *estate) restarts() {
	e.t.Helper()
	load := e.few()
	e.do(e.resident.Restart(e.t.Context()))
	e.theirsStands("theirs restarted")
	e.pod.end()
	e.theirsStands("ours away")
	e.startOurs()
	load.none()
	e.theirsStands("ours restarted")
	e.home("both restarted")
}

// cleanUps cleans up the neighbour under load, and then ours.
func (e *estate) cleanUps() {
	e.t.Helper()
	load := e.few()
	e.do(e.resident.CleanUp(e.t.Context()))
	load.none()
	if left := e.list(); len(left) > 0 {
		e.t.Errorf("theirs cleaned up leaves %q", left)
	}
	e.home("theirs cleaned up")
	e.install()
	e.cleanUpOurs()
	e.theirsStands("ours cleaned up")
	e.astray()
	e.do(e.resident.CleanUp(e.t.Context()))
}

// netBird is a bench with NetBird on its node.
func netBird(t *testing.T) (*bench, *neighbours.Resident) {
	t.Helper()
	needNeighbours(t)
	b := newBench(t)
	r, err := neighbours.NetBird().Settle(t.Context(), b.Cluster, b.node)
	b.do(err)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	b.do(r.Install(t.Context()))
	return b, r
}

// TestNetBirdsMarkIsReported holds that the agent says what its default mark does to
// NetBird, and that it is so.
func TestNetBirdsMarkIsReported(t *testing.T) {
	b, r := netBird(t)
	b.do(r.Ask(t.Context()))
	p := b.start()
	s := p.await("ready", func(s returnpath.Status) bool { return s.Ready })
	if got := kinds(s); !slices.Equal(got, []returnpath.ProblemKind{returnpath.ProblemMarkShared}) ||
		!strings.Contains(s.Problems[0].Text, "priority 110 fwmark 0x1bd00/0xffffffff not lookup 7120") {
		t.Errorf("problems %+v", s.Problems)
	}
	b.allHome()
	if err := r.Ask(t.Context()); err == nil || !strings.Contains(err.Error(), "with mark 0x1bd00, which leaves by ens18") {
		t.Errorf("NetBird's own traffic: %v; want it gone by our link", err)
	}
	b.do(r.CleanUp(t.Context()))
	p.await("content", func(s returnpath.Status) bool { return s.Ready && len(s.Problems) == 0 })
}

// TestAnotherMarkBesideNetBird does what the report says.
func TestAnotherMarkBesideNetBird(t *testing.T) {
	b, r := netBird(t)
	p := b.start("--mark=0x1000000", "--mask=0x1000000")
	s := p.await("ready", func(s returnpath.Status) bool { return s.Ready })
	if len(s.Problems) > 0 {
		t.Errorf("problems %+v", s.Problems)
	}
	b.allHome()
	b.do(r.Ask(t.Context()))
	b.do(r.Restart(t.Context()))
	b.allHome()
	b.do(r.Ask(t.Context()))
}
