package talosgen_test

import (
	"strings"
	"testing"
	"time"
)

const otherMAC = "02:00:00:00:00:77"

func TestScriptFollowsTheNIC(t *testing.T) {
	t.Parallel()
	p := podPlan(t, nil)
	n := newNode(t, p)
	absent := n.wants(strings.Replace(documentedTable, markingRule, "", 1))
	on := func(name string) string { return n.wants(strings.Replace(documentedTable, "ens19", name, 1)) }
	ens19, ens20, aliased := on("ens19"), on("ens20"), on("eth7")
	s := n.start(podScript(t, p))

	step := func(name, line, want string, words ...string) {
		t.Run(name, func(t *testing.T) {
			n, s := n.on(t), &script{t: t, log: s.log}
			n.run(line)
			n.eventually(want)
			s.says(words...)
		})
	}
	add := func(name, mac string) string {
		return "ip link add name " + name + " address " + mac + " type veth peer name p-" + name
	}
	step("missing at the start: replies still go home", "true", absent, "no link has MAC "+n.mac)
	step("plugged in", add("ens19", n.mac), ens19, "external NIC is ens19")
	step("renamed", "ip link set dev ens19 name ens20", ens20, "external NIC is ens20")
	step("a second one with its MAC comes: the first stays", add("copy0", n.mac)+"; sleep 3", ens20,
		"refusing to choose between links that match MAC "+n.mac+" or alias external: copy0 ens20")
	step("the first goes, the copy is alone", "ip link del ens20; ip link set dev copy0 name ens19", ens19)
	step("unplugged", "ip link del ens19", absent)
	step("back under another name", add("ens20", n.mac), ens20)
	step("another MAC, found by its alias", "ip link set dev ens20 address "+otherMAC+" name eth7 alias external", aliased, "external NIC is eth7")
	step("the MAC goes before the alias", add("ens19", n.mac), ens19)

	said := s.log.String()
	time.Sleep(severalPasses)
	if more := strings.TrimPrefix(s.log.String(), said); more != "" {
		t.Errorf("said without a change: %s", more)
	}
}

func TestScriptRefusesToGuess(t *testing.T) {
	for _, c := range []struct {
		name  string
		links []string
		says  string
	}{
		{"two links of the MAC", []string{"ens19", "ens20"}, "or alias external: ens19 ens20"},
		{"a name that nft would take for a pattern", []string{"ens*"}, "refusing link ens*"},
		{"a name that would end the quotes", []string{`e"drop`}, `refusing link e"drop`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := podPlan(t, nil)
			n := newNode(t, p)
			want := n.wants(strings.Replace(documentedTable, markingRule, "", 1))
			for _, name := range c.links {
				n.addNIC(name, n.mac)
			}
			s := n.start(podScript(t, p))
			n.eventually(want)
			s.says(c.says)
		})
	}
}

// A bridge or a macvlan over the NIC has its MAC too, and is not the NIC.
func TestScriptPassesOverStackedLinks(t *testing.T) {
	t.Parallel()
	p := podPlan(t, nil)
	n := newNode(t, p)
	want := n.wants(documentedTable)
	n.addNIC("ens19", n.mac)
	n.run("ip link add name br0 type bridge; ip link set dev p-ens19 master br0; ip link set dev br0 address " + n.mac)
	n.run("ip link add name mv0 link p-ens19 address " + n.mac + " type macvlan 2>/dev/null || ip link add name mv0 link ens19 address " + n.mac + " type macvlan")
	s := n.start(podScript(t, p))
	n.eventually(want)
	s.says("external NIC is ens19")
}
