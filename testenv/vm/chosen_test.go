//go:build linux

package vm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
)

// testPackage is a package whose tests run inside.
type testPackage struct {
	ImportPath, Dir           string
	TestImports, XTestImports []string
	choice
	env []string
}

// choice is which of a package's tests run inside, as patterns of go test. Empty
// patterns choose all, unless none do.
type choice struct {
	run, skip, because string
	none               bool
}

// chosen has the packages of which not all tests run inside, and why.
func chosen(importPath string) choice {
	switch importPath {
	case module + "/cmd/homeward-agent":
		return choice{
			skip: "^Test(NodeFlags|NodeFlagFaults|NodeNamesEveryMissingFlag|ListenNowhere|Run|SeriesAreThoseOfTheAlerts|" +
				"PathsBeforeTheFirstPass|TheNetworkSeesOnlyMetrics|AScrapeOutlivesAKernelThatDoesNotAnswer|ServeWaitsForItsAddress)$|" +
				"^TestGatewayThatIgnoresTheAnchor$/^(its_entry_is_kept_alive|it_goes_away_and_comes_back)$|" +
				"^TestForeignFaults$/^(table_deleted|chain_deleted|marking_rule_gone|restoring_rule_gone|" +
				"element_deleted|element_added_by_hand|ip_rule_deleted|table_251_flushed|NIC_down|anchor_address_taken_off)$|" +
				"^TestNICUnpluggedAndBack$/^back_up$|^TestChangesAreSeen$|" +
				"^TestEventsThatOverrunTheSocket$/^nftables$|^TestReversePathIsReportedAsTheWireHasIt$|^TestFewRightsAreEnough$|" +
				"^TestPreferMainIsKept$|^TestWhatPreferMainCosts$|^TestTheRemedyHelps$|" +
				"^TestTheGeneratedPodBringsRepliesHome$|^TestTwoAgentsWithEqualSettings$|^TestForeignTableAtOurPriorityIsNoFault$|^TestHost|" +
				"^TestNeighbours$|^TestNetBirdsMarkIsReported$|^TestAnotherMarkBesideNetBird$",
			because: "testenv/vm/guest runs the host's agent where it belongs, at a VLAN-aware bridge; flags and pages ask nothing of the kernel, " +
				"and an emulated one gets few faults of each kind, and fills no large buffer; testenv/netlab holds what reverse-path filters drop; " +
				"the clock's test in testenv/vm/guest holds the refresh, that of the pods' order runs both pods; iptables, which most neighbours use, is not there",
		}
	case module + "/cmd/homeward":
		return choice{
			run:     "^TestLab(UpExecDown|WithoutAgentLosesReplies)$",
			skip:    "^TestLabUpExecDown$/^without_arguments_",
			because: "testenv/netlab/demo runs the demo; the rest asks nothing, or nothing else, of the kernel, and an emulated one is slow to start programs",
		}
	case module + "/agent/segment":
		return choice{
			run:     "^TestProbe$",
			skip:    "^TestProbe$/^two_that_have_one_address$",
			because: "the rest asks nothing of the kernel, or more frames of an emulated processor than it carries",
		}
	case labDir:
		return choice{
			skip:    "^TestLoad(CountsExactly|SeesAnOutage)$|^TestThroughput$|^TestFloodSendsInTurn$",
			because: "they ask for more requests in a second than an emulated processor carries",
		}
	case module + "/cmd/homeward/internal/topology":
		return choice{none: true, because: "it draws what the lab measured, and asks nothing of the kernel"}
	case module + "/testenv/neighbours":
		return choice{none: true, because: "iptables, which most neighbours use, is not there"}
	case module + "/talosgen":
		return choice{
			run: "^TestScript",
			skip: "^TestScriptPassesShellcheck$|^TestScriptOutlivesAFailingNFT$|" +
				"^TestScriptRepairs$/^(table_deleted|table_flushed|chain_deleted|rule_added|element_added|policy_changed)$",
			because: "the rest asks nothing, or nothing else, of the kernel, and an emulated one is slow to start programs",
		}
	}
	return choice{}
}

// labPackages finds every package whose tests use the lab of namespaces, so that
// a new one is never forgotten here.
func (b *bench) labPackages() []testPackage {
	b.t.Helper()
	only, err := regexp.Compile(os.Getenv(envOnly))
	if err != nil {
		b.t.Fatal(err)
	}
	var found []testPackage
	out := b.goTool("list", "-json=ImportPath,Dir,TestImports,XTestImports", module+"/...")
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p testPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			b.t.Fatal(err)
		}
		if p.ImportPath == guestDir || !slices.Contains(slices.Concat(p.TestImports, p.XTestImports), labDir) {
			continue
		}
		if !only.MatchString(p.ImportPath) {
			continue
		}
		p.choice = chosen(p.ImportPath)
		if p.none {
			b.t.Logf("%s: left out: %s", p.ImportPath, p.because)
			continue
		}
		p.env = []string{labBridge}
		found = append(found, p)
	}
	if len(found) == 0 {
		b.t.Fatalf("no package's tests use the lab: the search, or %s, sees nothing", envOnly)
	}
	return found
}
