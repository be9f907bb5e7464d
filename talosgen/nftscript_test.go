package talosgen_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
	"homeward/talosgen"
)

// documentedTable is the table as the design has it, in nft's language.
const documentedTable = `table inet homeward {
	set ingress4 {
		type ipv4_addr
		flags interval
		elements = { 203.0.113.75-203.0.113.79 }
	}
	chain prerouting {
		type filter hook prerouting priority -149; policy accept;
		iifname "ens19" ip daddr @ingress4 ct direction original counter ct mark set ct mark or 0x2000
		ct direction original ct mark and 0x2000 == 0x2000 meta mark set meta mark and 0xffffdfff
		ct direction reply ct mark and 0x2000 == 0x2000 counter meta mark set meta mark or 0x2000
	}
	chain output {
		type route hook output priority -149; policy accept;
		ct direction reply ct mark and 0x2000 == 0x2000 counter meta mark set meta mark or 0x2000
	}
}
`

// markingRule is the line of documentedTable that is not there without a NIC.
const markingRule = `		iifname "ens19" ip daddr @ingress4 ct direction original counter ct mark set ct mark or 0x2000
`

func TestTable(t *testing.T) {
	p := podPlan(t, nil)
	m := podMachine(t, p, onWorker)
	t.Run("is the documented one", func(t *testing.T) {
		if diff := cmp.Diff(documentedTable, talosgen.Table(p, m, "ens19")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("without a NIC marks nothing and restores all", func(t *testing.T) {
		if diff := cmp.Diff(strings.Replace(documentedTable, markingRule, "", 1), talosgen.Table(p, m, "")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("has the plan's mark and merged ranges", func(t *testing.T) {
		p := podPlan(t, func(s *netplan.Spec) {
			s.ReturnPath.Mark, s.ReturnPath.Mask = new(netplan.Mark(0x1000)), new(netplan.Mask(0x1000))
			for _, r := range []string{"203.0.113.90", "203.0.113.80/30"} {
				set, err := netplan.ParseRange(r)
				if err != nil {
					t.Fatal(err)
				}
				s.External.Pool = append(s.External.Pool, set)
			}
		})
		want := strings.NewReplacer("0x2000", "0x1000", "0xffffdfff", "0xffffefff").Replace(documentedTable)
		want = strings.Replace(want, "203.0.113.75-203.0.113.79", "203.0.113.75-203.0.113.83, 203.0.113.90", 1)
		if diff := cmp.Diff(want, talosgen.Table(p, m, "ens19")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// podScript is what the nft pod's shell gets.
func podScript(t *testing.T, p *netplan.Plan) string {
	t.Helper()
	_, pod := staticPod(t, p, onWorker)
	c := pod.Spec.Containers[0]
	if diff := cmp.Diff([]string{"/bin/sh", "-c"}, c.Command); diff != "" || len(c.Args) != 1 {
		t.Fatalf("command (-want +got):\n%s with %d arguments", diff, len(c.Args))
	}
	return c.Args[0]
}

func TestScriptPassesShellcheck(t *testing.T) {
	program, err := exec.LookPath("shellcheck")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI needs shellcheck (Debian package shellcheck):", err)
		}
		t.Skip("shellcheck is not installed:", err)
	}
	_, pod := staticPod(t, podPlan(t, nil), onWorker)
	c := pod.Spec.Containers[0]
	for name, script := range map[string]string{"the loop": c.Args[0], "the probe": c.ReadinessProbe.Exec.Command[2]} {
		for _, dialect := range []string{"dash", "sh"} {
			check := exec.Command(program, "--norc", "--shell="+dialect, "--enable=quote-safe-variables,check-unassigned-uppercase", "-")
			check.Stdin = strings.NewReader(script)
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("%s as %s: %v\n%s", name, dialect, err, out)
			}
		}
	}
}

// The kubelet expands $(NAME) and $$ in arguments before the shell sees them.
func TestScriptSurvivesTheKubelet(t *testing.T) {
	script := podScript(t, podPlan(t, nil))
	if found := regexp.MustCompile(`\$\$|\$\([A-Za-z_.-][A-Za-z0-9_.-]*\)`).FindString(script); found != "" {
		t.Errorf("the kubelet would expand %q", found)
	}
}
