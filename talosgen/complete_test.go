package talosgen

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"

	"homeward/netplan"
)

// complete gives a machine's whole configuration.
func complete(t testing.TB, base []byte, p *netplan.Plan, m netplan.Machine) []byte {
	t.Helper()
	text, err := Complete(base, p, m, pod(p, m))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestCompleteIsWhatTalosWouldMakeOfThePatch compares with Talos's own patcher.
func TestCompleteIsWhatTalosWouldMakeOfThePatch(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			p := fixture(s.options...)
			for _, m := range p.Machines {
				plain := base(t, m.Role, "v1.13", encoder.CommentsDisabled)
				got := load(t, complete(t, plain, p, m))
				validate(t, got)
				want := apply(t, plain, render(t, p, m))
				if diff := cmp.Diff(canonical(t, want), canonical(t, got)); diff != "" {
					t.Fatalf("%s (-talos +homeward):\n%s", m.Name, diff)
				}
			}
		})
	}
}

// canonical gives a configuration's text as machinery writes it.
func canonical(t testing.TB, cfg interface {
	EncodeBytes(...encoder.Option) ([]byte, error)
}) string {
	t.Helper()
	text, err := cfg.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCompleteTwiceIsOnce(t *testing.T) {
	for _, comments := range []encoder.CommentsFlags{encoder.CommentsDisabled, encoder.CommentsDocs, encoder.CommentsAll} {
		for _, s := range shapes() {
			t.Run(fmt.Sprintf("%s, comments %d", s.name, comments), func(t *testing.T) {
				p := fixture(s.options...)
				for _, m := range []netplan.Machine{p.Machines[0], p.Machines[len(p.Machines)-1]} {
					once := complete(t, base(t, m.Role, "v1.13", comments), p, m)
					twice := complete(t, once, p, m)
					if diff := cmp.Diff(string(once), string(twice)); diff != "" {
						t.Fatalf("%s (-once +twice):\n%s", m.Name, diff)
					}
				}
			})
		}
	}
}

// TestCompleteAfterAChangeIsAsIfItHadAlwaysBeenSo goes from every layout to
// several others and wants the bytes that the pristine base gives.
func TestCompleteAfterAChangeIsAsIfItHadAlwaysBeenSo(t *testing.T) {
	for _, name := range []string{"controlplane-01", "worker-01"} {
		pristine := base(t, machine(fixture(), name).Role, "v1.13", encoder.CommentsDocs)
		all := shapes()
		for i, from := range all {
			before, ok := machineOf(fixture(from.options...), name)
			if !ok {
				continue
			}
			old := complete(t, pristine, fixture(from.options...), before)
			for _, step := range []int{1, 6, 13} {
				to := all[(i+step)%len(all)]
				p := fixture(to.options...)
				m, ok := machineOf(p, name)
				if !ok {
					continue
				}
				want, again := complete(t, pristine, p, m), complete(t, old, p, m)
				if diff := cmp.Diff(string(want), string(again)); diff != "" {
					t.Errorf("%s, from %q to %q (-fresh +changed):\n%s", name, from.name, to.name, diff)
				}
			}
		}
	}
}

func machineOf(p *netplan.Plan, suffix string) (netplan.Machine, bool) {
	for _, m := range p.Machines {
		if strings.HasSuffix(m.Name, suffix) {
			return m, true
		}
	}
	return netplan.Machine{}, false
}

func TestCompleteAfterARenamedMachineAndOtherMACs(t *testing.T) {
	p := fixture()
	m := machine(p, "worker-01")
	old := complete(t, base(t, m.Role, "v1.13", 0), p, m)
	m.Name, m.MACs.Cluster, m.MACs.External = "edge-worker-09", netplan.MAC{2, 7}, netplan.MAC{2, 8}
	m.Anchor = netip.MustParseAddr("169.254.40.1")
	text := complete(t, old, p, m)
	wantLines(t, describe(load(t, text)), []string{
		"hostname edge-worker-09",
		`alias private mac(link.permanent_addr) == "02:07:00:00:00:00"`,
		`alias external mac(link.permanent_addr) == "02:08:00:00:00:00"`,
		"address external 169.254.40.1/32 metric 1024",
	}, nil)
	if bytes.Contains(text, []byte("02:01:ab:cd:00:04")) {
		t.Error("an old MAC is left")
	}
}

// TestCompleteOfABaseThatOurPatchWentInto has no record to go by.
func TestCompleteOfABaseThatOurPatchWentInto(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			p := fixture(s.options...)
			for _, m := range p.Machines {
				pristine := base(t, m.Role, "v1.13", 0)
				patched := canonical(t, apply(t, pristine, render(t, p, m)))
				got := complete(t, []byte(patched), p, m)
				if diff := cmp.Diff(describe(load(t, complete(t, pristine, p, m))), describe(load(t, got))); diff != "" {
					t.Fatalf("%s (-pristine +patched):\n%s", m.Name, diff)
				}
				if twice := complete(t, got, p, m); !bytes.Equal(got, twice) {
					t.Fatalf("%s: twice is not once:\n%s", m.Name, cmp.Diff(string(got), string(twice)))
				}
			}
		})
	}
}

func TestCompleteFindsOldNumbersWithoutARecord(t *testing.T) {
	before := fixture(firewall, func(p *netplan.Plan) {
		otherNumbers(p)
		p.KubeAPI.VIP, p.KubeAPI.SANs = netip.MustParseAddr("203.0.113.70"), []string{"203.0.113.70"}
	})
	after := fixture()
	m := machine(after, "controlplane-01")
	pristine := base(t, m.Role, "v1.13", 0)
	patched := canonical(t, apply(t, pristine, render(t, before, m)))
	got := describe(load(t, complete(t, []byte(patched), after, m)))
	if diff := cmp.Diff(describe(load(t, complete(t, pristine, after, m))), got); diff != "" {
		t.Errorf("(-pristine +patched before):\n%s", diff)
	}
}

func TestCompleteKeepsWhatTheOperatorWrote(t *testing.T) {
	p := fixture(privateVIP)
	m := machine(p, "controlplane-01")
	text := string(base(t, m.Role, "v1.13", 0))
	text = replace(t, text, "    certSANs: []\n", "    # names of ours\n    certSANs:\n        - 10.0.0.240 # by hand\n        - talos.example.edu\n")
	text = replace(t, text, "        disableManifestsDirectory: true\n", "        disableManifestsDirectory: true\n        nodeIP:\n            validSubnets:\n                - 10.9.0.0/24\n                - '!10.9.0.1/32'\n")
	text = replace(t, text, "    install:\n", "    pods:\n        - apiVersion: v1\n          kind: Pod\n          metadata: {name: mine}\n    # where to\n    install:\n")
	text += "---\napiVersion: v1alpha1\nkind: LinkConfig\nname: ens20   # a third NIC\naddresses:\n  - address: 192.0.2.1/24\n"
	changed := fixture()
	got := string(complete(t, []byte(text), p, m))
	for range 2 {
		got = string(complete(t, []byte(got), changed, m))
		got = string(complete(t, []byte(got), p, m))
	}
	for _, want := range []string{
		"    # names of ours\n    certSANs:\n        - 10.0.0.240 # by hand\n        - talos.example.edu\n",
		"            validSubnets:\n                - 10.9.0.0/24\n                - 10.0.0.0/24\n                - '!10.9.0.1/32'\n                - '!10.0.0.240/32'\n",
		"          metadata: {name: mine}\n",
		"    # where to\n    install:\n",
		"name: ens20   # a third NIC\naddresses:\n  - address: 192.0.2.1/24\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing:\n%s", want)
		}
	}
	names := load(t, []byte(got)).RawV1Alpha1().MachineConfig.MachineCertSANs
	if diff := cmp.Diff([]string{"10.0.0.240", "talos.example.edu"}, names); diff != "" {
		t.Errorf("a name that was there already must not double (-want +got):\n%s", diff)
	}
	if n := strings.Count(got, netplan.PodName); n != 2 { // the pod and the record
		t.Errorf("the pod's name occurs %d times", n)
	}
	got = string(complete(t, []byte(got), fixture(endpointOnly), m))
	if !strings.Contains(got, "- 10.0.0.240 # by hand\n") || strings.Contains(got, "!10.0.0.240/32") {
		t.Error("the operator's own name of the old VIP must stay, our exclusion must go")
	}
	validate(t, load(t, []byte(got)))
}

func replace(t *testing.T, text, old, new string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q occurs %d times", old, strings.Count(text, old))
	}
	return strings.Replace(text, old, new, 1)
}

func TestCompletePutsTheExclusionBackWhenWorkersCome(t *testing.T) {
	alone, grown := fixture(noWorkers), fixture()
	m := machine(alone, "controlplane-01")
	text := complete(t, base(t, m.Role, "v1.13", 0), alone, m)
	if bytes.Contains(text, []byte(labelExcluded+": ")) {
		t.Error("the exclusion is still there")
	}
	text = complete(t, text, grown, m)
	if !bytes.Contains(text, []byte(labelExcluded+`: ""`)) {
		t.Error("the exclusion did not come back")
	}
}

func TestCompleteKeepsSecretsAndForeignDocumentsToTheByte(t *testing.T) {
	p := fixture()
	m := machine(p, "controlplane-01")
	plain := base(t, m.Role, "v1.13", encoder.CommentsAll)
	got := complete(t, plain, p, m)
	secrets := 0
	for line := range bytes.Lines(plain) {
		trimmed := bytes.TrimSpace(line)
		for _, key := range []string{"crt: ", "key: ", "token: ", "secret: ", "id: ", "secretboxEncryptionSecret: "} {
			if bytes.HasPrefix(trimmed, []byte(key)) {
				secrets++
				if !bytes.Contains(got, line) {
					t.Errorf("a line with %s is not there as it was", key)
				}
			}
		}
	}
	if secrets < 12 {
		t.Errorf("only %d lines with secrets found", secrets)
	}
}

func TestCompleteDropsTheHeaderOfAFileThatItMade(t *testing.T) {
	p := fixture()
	m := machine(p, "worker-01")
	once := complete(t, base(t, m.Role, "v1.13", 0), p, m)
	stamped := append([]byte("# generated by homeward, format 1, plan sha256:00ff; edits are lost\n"), once...)
	if got := complete(t, stamped, p, m); !bytes.Equal(once, got) {
		t.Errorf("(-want +got):\n%s", cmp.Diff(string(once), string(got)))
	}
}
