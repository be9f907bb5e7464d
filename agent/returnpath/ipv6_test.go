package returnpath

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestIPv6DefaultIsANote(t *testing.T) {
	k, _ := converged(t, testSettings())
	a, _ := newAgent(t, k, testSettings(), time.Minute)
	if st := a.Pass(context.Background()); len(st.Problems) > 0 {
		t.Fatalf("without one: %+v", st.Problems)
	}
	k.v6gateway = netip.MustParseAddr("fe80::1")
	st := a.Pass(context.Background())
	if !st.Ready || len(st.Problems) != 1 || st.Problems[0].Kind != ProblemIPv6Default || st.Problems[0].Blocking {
		t.Fatalf("ready %v, problems %+v", st.Ready, st.Problems)
	}
	if p := st.Problems[0]; !strings.Contains(p.Text, "via fe80::1") || !strings.Contains(p.Remedy, "net.ipv6.conf.ens19.accept_ra=0") {
		t.Errorf("problem %+v", p)
	}
	k.links = k.links[:2] // there is no external link to speak of
	if st := a.Pass(context.Background()); len(st.Problems) != 1 || st.Problems[0].Kind != ProblemNICMissing {
		t.Errorf("without the link: %+v", st.Problems)
	}
}

func TestIPv6ThatCannotBeListedBlocksNothing(t *testing.T) {
	k, _ := converged(t, testSettings())
	k.broken["ipv6"] = true
	a, _ := newAgent(t, k, testSettings(), time.Minute)
	if st := a.Pass(context.Background()); !st.Ready || len(st.Problems) != 1 || st.Problems[0].Kind != ProblemNotListed {
		t.Errorf("ready %v, problems %+v", st.Ready, st.Problems)
	}
}
