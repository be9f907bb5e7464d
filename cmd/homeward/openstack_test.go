package main

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/spf13/cobra"

	"homeward/cmd/homeward/internal/allocation"
	"homeward/cmd/homeward/internal/ownerid"
	"homeward/netplan"
	"homeward/netplan/load"
)

// cloudPlan is the plan of the README's part on OpenStack.
const cloudPlan = `name: edge
talos: {version: v1.13.9}
kubernetes: {version: v1.36.3}
controlplane: {count: 3}
workers:
  worker: {count: 3}
network:
  cidr: 192.0.2.0/24
  dns: [198.51.100.53]
openstack:
  url: https://openstack.example.edu:5000/v3
  external_net: public
security:
  kubernetes: {office: 198.51.100.0/24}
  talos: {office: 198.51.100.0/24}
`

// chosen are lines under openstack: that leave nothing to Neutron.
const chosen = "openstack:\n  kubeapi_address: 192.0.2.5\n  kubeapi_floating_ip: 203.0.113.81\n  ingress_address: 192.0.2.10\n  ingress_floating_ip: 203.0.113.80\n"

const cloudOwner = "4f1d0c77a2b95e63"

// cloud is a directory with a plan for OpenStack.
type cloud struct {
	t              *testing.T
	dir, file, out string
}

func newCloud(t *testing.T, edits ...string) cloud {
	t.Helper()
	c := cloud{t: t, dir: t.TempDir()}
	c.file, c.out = filepath.Join(c.dir, "cluster.yaml"), filepath.Join(c.dir, "out")
	c.plan(edits...)
	c.write(ownerid.FileName, cloudOwner+"\n")
	return c
}

func (c cloud) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// plan writes cluster.yaml, edited.
func (c cloud) plan(edits ...string) {
	c.t.Helper()
	text := cloudPlan
	for i := 0; i+1 < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			c.t.Fatalf("the plan has no %q", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	c.write("cluster.yaml", text)
}

// reserved keeps what a reserve allocates: the addresses of the load-balancing page.
func (c cloud) reserved(change func(*netplan.Allocation)) cloud {
	c.t.Helper()
	var a netplan.Allocation
	text := `{"cluster":"edge","owner":"` + cloudOwner + `","kubeapi":{"fixed":"192.0.2.5","floating":"203.0.113.81"},"ingress":{"fixed":"192.0.2.10","floating":"203.0.113.80"}}`
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		c.t.Fatal(err)
	}
	if change != nil {
		change(&a)
	}
	if err := allocation.Save(filepath.Join(c.out, allocation.FileName), a); err != nil {
		c.t.Fatal(err)
	}
	return c
}

// generate wants an exit code, and words on standard error.
func (c cloud) generate(code exitCode, args ...string) result {
	c.t.Helper()
	got := homeward(c.t, append([]string{"generate", "-f", c.file, "--out", c.out}, args...)...)
	if got.code != int(code) {
		c.t.Fatalf("exit %d, want %d: %s", got.code, code, got.err)
	}
	return got
}

func TestPlanOnOpenStack(t *testing.T) {
	c := newCloud(t)
	at := filepath.Join(c.out, allocation.FileName)
	got := homeward(t, "plan", "-f", c.file)
	if got.code != 0 || got.err != "" {
		t.Fatalf("exit %d: %s", got.code, got.err)
	}
	golden(t, "testdata/plan-openstack.txt", got.out)
	c.reserved(nil)
	got = homeward(t, "plan", "-f", c.file, "--allocation", at)
	if got.code != 0 || got.err != "" {
		t.Fatalf("exit %d: %s", got.code, got.err)
	}
	golden(t, "testdata/plan-openstack-reserved.txt", got.out)
}

// addresses are what scripts ask plan -o json for.
type addresses struct {
	Provider string
	External *struct{}
	KubeAPI  struct{ Fixed, Floating, Endpoint *string }
	Ingress  struct{ Fixed, Floating *string }
	Warnings []netplan.Warning
}

func planned(t *testing.T, args ...string) addresses {
	t.Helper()
	got := homeward(t, append([]string{"plan", "-o", "json"}, args...)...)
	var a addresses
	if err := json.Unmarshal([]byte(got.out), &a); err != nil || got.code != 0 {
		t.Fatalf("exit %d, %v: %s", got.code, err, got.err)
	}
	return a
}

func TestPlanJSONOnOpenStackIsTheContract(t *testing.T) {
	c := newCloud(t)
	at := filepath.Join(c.out, allocation.FileName)
	a := planned(t, "-f", c.file)
	if a.Provider != "openstack" || a.External != nil {
		t.Errorf("provider %s, external %v", a.Provider, a.External)
	}
	for name, s := range map[string]*string{"kubeapi.fixed": a.KubeAPI.Fixed, "kubeapi.floating": a.KubeAPI.Floating, "ingress.fixed": a.Ingress.Fixed, "ingress.floating": a.Ingress.Floating} {
		if s == nil || *s != "" {
			t.Errorf("%s is not there, or not empty, before anything is reserved", name)
		}
	}
	c.reserved(nil)
	a = planned(t, "-f", c.file, "--allocation", at)
	if *a.KubeAPI.Fixed != "192.0.2.5" || *a.Ingress.Floating != "203.0.113.80" || *a.KubeAPI.Endpoint != "https://203.0.113.81:6443" {
		t.Errorf("after it: %v %v", *a.KubeAPI.Fixed, *a.Ingress.Floating)
	}
	t.Run("an allocation that does not fit is a warning", func(t *testing.T) {
		c.reserved(func(a *netplan.Allocation) { a.Cluster = "core" })
		a := planned(t, "-f", c.file, "--allocation", at)
		if len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0].Message, `cluster "core"'s`) || *a.Ingress.Fixed != "" {
			t.Errorf("warnings %v", a.Warnings)
		}
	})
	t.Run("elsewhere these keys are not there", func(t *testing.T) {
		if a := planned(t, "-f", planFile(t)); a.KubeAPI.Fixed != nil || a.Ingress.Floating != nil {
			t.Error("Proxmox has fixed or floating")
		}
	})
}

func TestPlanFlagsOnOpenStack(t *testing.T) {
	c := newCloud(t).reserved(nil)
	at := filepath.Join(c.out, allocation.FileName)
	for name, run := range map[string]struct {
		args []string
		want string
	}{
		"a named file that is missing":   {[]string{"-f", c.file, "--allocation", at + "x"}, "--allocation: "},
		"a named file on Proxmox":        {[]string{"-f", planFile(t), "--allocation", at}, "--allocation is for OpenStack"},
		"there are no anchors":           {[]string{"-f", c.file, "--pin-anchors"}, "no anchor"},
		"two providers are one too many": {[]string{"-f", planFile(t, "proxmox:\n", "openstack: {external_net: public}\nproxmox:\n")}, "one provider"},
	} {
		t.Run(name, func(t *testing.T) {
			got := homeward(t, append([]string{"plan"}, run.args...)...)
			if got.code != int(exitUsage) || !strings.Contains(got.err, run.want) {
				t.Errorf("exit %d: %s", got.code, got.err)
			}
		})
	}
	t.Run("against another provider's plan", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "out")
		homeward(t, "generate", "-f", planFile(t), "--out", out)
		got := homeward(t, "plan", "-f", c.file, "--against", filepath.Join(out, "plan.json"))
		if got.code != 0 || !strings.Contains(got.out, "provider: proxmox -> openstack") {
			t.Errorf("exit %d: %s%s", got.code, got.out, got.err)
		}
	})
}

func TestGenerateOnOpenStack(t *testing.T) {
	c := newCloud(t).reserved(nil)
	controlPlane, worker := writeBases(t)
	bases := controlPlane + "," + worker
	if got := c.generate(exitDone, "--base", bases); !strings.Contains(got.err, `controlPlane.endpoint is "https://203.0.113.79:6443", the plan's is "https://203.0.113.81:6443"`) {
		t.Errorf("a base with another endpoint passes: %s", got.err)
	}
	files := snapshot(t, c.out)
	names := []string{
		"README.md", "allocation.json", "argocd/values.yaml", "kubernetes/metallb.yaml", "kubernetes/traefik.yaml",
		"machines/.gitignore", "openstack/network.tfvars.json", "plan.json",
	}
	for _, m := range []string{"edge-controlplane-01", "edge-controlplane-02", "edge-controlplane-03", "edge-worker-01", "edge-worker-02", "edge-worker-03"} {
		names = append(names, "machines/"+m+".yaml", "talos/"+m+".yaml")
		cfg, err := configloader.NewFromBytes([]byte(files["machines/"+m+".yaml"]))
		if err != nil {
			t.Fatalf("%s: %v", m, err)
		}
		if warnings, err := cfg.Validate(cloudMode{}); err != nil || len(warnings) > 0 {
			t.Errorf("%s: %v, warnings %q", m, err, warnings)
		}
	}
	slices.Sort(names)
	var got []string
	for name := range files {
		got = append(got, name)
	}
	if slices.Sort(got); !slices.Equal(got, names) {
		t.Errorf("files are\n%q, want\n%q", got, names)
	}
	for name, part := range map[string]string{
		"argocd/values.yaml":              "\n    - 192.0.2.10/32     # the ingress VIP (fixed IP on the tenant network), as a /32\n",
		"kubernetes/metallb.yaml":         "\n    - 192.0.2.10/32\n",
		"kubernetes/traefik.yaml":         "\n  loadBalancerIP: 192.0.2.10\n",
		"talos/edge-controlplane-01.yaml": "kind: Layer2VIPConfig\nname: 192.0.2.5\nlink: private\n",
		"README.md":                       "talosctl gen config edge https://203.0.113.81:6443",
		"plan.json":                       `"floating": "203.0.113.80"`,
	} {
		if !strings.Contains(files[name], part) {
			t.Errorf("%s does not have %q", name, part)
		}
	}
	t.Run("again nothing changes", func(t *testing.T) {
		c.generate(exitDone, "--base", bases, "--diff")
	})
	t.Run("another address changes what has it", func(t *testing.T) {
		c.reserved(func(a *netplan.Allocation) { a.Ingress.Floating = netip.MustParseAddr("203.0.113.99") })
		c.generate(exitDifference, "--base", bases, "--diff")
		c.generate(exitDone)
		if !strings.Contains(snapshot(t, c.out)["argocd/values.yaml"], "203.0.113.99") {
			t.Error("the values are the old ones")
		}
	})
}

// cloudMode is talosctl's `validate --mode cloud`.
type cloudMode struct{}

func (cloudMode) String() string        { return "cloud" }
func (cloudMode) RequiresInstall() bool { return false }
func (cloudMode) InContainer() bool     { return false }

func TestGenerateWithoutAddresses(t *testing.T) {
	c := newCloud(t)
	got := c.generate(exitUnknown)
	for _, want := range []string{
		"nothing is written", allocation.FileName + " is missing", "kubeapi.fixed ", "ingress.floating ", "kubernetes/metallb.yaml", "argocd/values.yaml", "talos/*.yaml", "README.md",
		"homeward reserve -f " + c.file,
	} {
		if !strings.Contains(got.err, want) {
			t.Errorf("no %q in: %s", want, got.err)
		}
	}
	if _, err := os.Stat(c.out); err == nil {
		t.Error("and yet something was written")
	}
	t.Run("what is chosen is not asked for", func(t *testing.T) {
		c.plan("openstack:\n", "openstack:\n  ingress_address: 192.0.2.10\n")
		if got := c.generate(exitUnknown); strings.Contains(got.err, "ingress.fixed") || !strings.Contains(got.err, "ingress.floating") {
			t.Errorf("it says %s", got.err)
		}
	})
	t.Run("an earlier tree stays", func(t *testing.T) {
		c := newCloud(t).reserved(nil)
		c.generate(exitDone)
		if err := os.Remove(filepath.Join(c.out, allocation.FileName)); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, c.out)
		c.generate(exitUnknown)
		if after := snapshot(t, c.out); len(before) != len(after) || before["README.md"] != after["README.md"] {
			t.Error("files were removed or changed")
		}
	})
	t.Run("all chosen", func(t *testing.T) {
		c := newCloud(t, "openstack:\n", chosen)
		if got := c.generate(exitDone); !strings.Contains(got.err, "nothing is reserved yet") {
			t.Errorf("it says %s", got.err)
		}
		if !strings.Contains(snapshot(t, c.out)["argocd/values.yaml"], `publicIP: "203.0.113.80"`) {
			t.Error("the values lack the floating IP")
		}
	})
}

func TestGenerateWithAForeignAllocation(t *testing.T) {
	for name, run := range map[string]struct {
		change func(*netplan.Allocation)
		edits  []string
		code   exitCode
		want   string
	}{
		"another cluster":      {func(a *netplan.Allocation) { a.Cluster = "core" }, nil, exitUsage, `cluster "core"'s`},
		"another owner":        {func(a *netplan.Allocation) { a.Owner = "0000000000000000" }, nil, exitUsage, "owner"},
		"the plan has changed": {nil, []string{"openstack:\n", "openstack:\n  ingress_address: 192.0.2.11\n"}, exitUsage, "ingress.fixed is 192.0.2.10 in the allocation, and 192.0.2.11 in the plan"},
		"half of it":           {func(a *netplan.Allocation) { a.Ingress = netplan.AllocatedAddress{} }, nil, exitUsage, "no IPv4 address as ingress.fixed"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCloud(t, run.edits...).reserved(run.change)
			if got := c.generate(run.code); !strings.Contains(got.err, run.want) || !strings.Contains(got.err, "reserve") {
				t.Errorf("it says %s", got.err)
			}
			if files := snapshot(t, c.out); len(files) != 1 {
				t.Errorf("%d files are there", len(files))
			}
		})
	}
	t.Run("a damaged file", func(t *testing.T) {
		c := newCloud(t).reserved(nil)
		c.write("out/"+allocation.FileName, `{"cluster":`)
		c.generate(exitUnknown)
	})
	t.Run("without homeward.id nobody can tell", func(t *testing.T) {
		c := newCloud(t).reserved(nil)
		if err := os.Remove(filepath.Join(c.dir, ownerid.FileName)); err != nil {
			t.Fatal(err)
		}
		if got := c.generate(exitDone); !strings.Contains(got.err, "no "+ownerid.FileName) {
			t.Errorf("it says %s", got.err)
		}
	})
}

// Asking the cloud needs one, and somebody who reserved there.
func TestGenerateLive(t *testing.T) {
	c := newCloud(t, "https://openstack.example.edu:5000/v3", "http://127.0.0.1:1/v3").reserved(nil)
	t.Setenv(load.EnvCredentialID, strings.Repeat("d3f0", 8))
	t.Setenv(load.EnvCredentialSecret, "do-not-tell")
	for name, run := range map[string]struct {
		file, want string
		code       exitCode
	}{
		"no answer":      {c.file, "127.0.0.1:1", exitUnknown},
		"another's plan": {planFile(t), "--live is for OpenStack: on proxmox the plan has all addresses", exitUsage},
	} {
		out := filepath.Join(t.TempDir(), "out")
		got := homeward(t, "generate", "-f", run.file, "--out", out, "--live")
		if _, err := os.Stat(out); got.code != int(run.code) || !strings.Contains(got.err, run.want) || strings.Contains(got.err, "do-not-tell") || err == nil {
			t.Errorf("%s: exit %d, want %d: %s (wrote: %v)", name, got.code, run.code, got.err, err)
		}
	}
}

// A cluster that moves there keeps nothing of the other provider's.
func TestGenerateAfterAChangeOfProvider(t *testing.T) {
	c := newCloud(t).reserved(nil)
	homeward(t, "generate", "-f", planFile(t), "--out", c.out)
	if snapshot(t, c.out)["proxmox/nics.sh"] == "" {
		t.Fatal("no tree for Proxmox")
	}
	c.generate(exitDone)
	for name := range snapshot(t, c.out) {
		if strings.HasPrefix(name, "proxmox/") || strings.Contains(name, "cleanup-pod") {
			t.Errorf("%s is still there", name)
		}
	}
}

func TestInitForOpenStack(t *testing.T) {
	c := newCloud(t)
	c.write("cluster.yaml", homeward(t, "init", "--provider", "openstack").out)
	if a := planned(t, "-f", c.file); a.Provider != "openstack" || len(a.Warnings) > 0 {
		t.Errorf("provider %s, warnings %v", a.Provider, a.Warnings)
	}
	if got := homeward(t, "init", "--provider", "aws"); got.code != int(exitUsage) || got.out != "" {
		t.Errorf("exit %d: %s", got.code, got.out)
	}
}

// Every command that reads a plan says something clear of one for OpenStack.
func TestEveryCommandKnowsOpenStack(t *testing.T) {
	c := newCloud(t).reserved(nil)
	runs := map[string]struct {
		args []string
		code exitCode
	}{
		"homeward plan":                {nil, exitDone},
		"homeward generate":            {[]string{"--out", c.out}, exitDone},
		"homeward reserve":             {[]string{"--dry-run"}, exitUsage},
		"homeward release":             {nil, exitUsage},
		"homeward status":              {nil, exitUsage},
		"homeward report":              {[]string{"--plan-only"}, exitUsage},
		"homeward verify":              {[]string{"--out", filepath.Join(c.dir, "none")}, exitUnknown},
		"homeward proxmox permissions": {[]string{"--check"}, exitUsage},
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			walk(below)
		}
		if cmd.Flags().Lookup("file") == nil {
			return
		}
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			r, ok := runs[cmd.CommandPath()]
			if !ok {
				t.Fatal("this command reads a plan, and nothing says here what it makes of one for OpenStack")
			}
			got := homeward(t, append(append(strings.Fields(cmd.CommandPath())[1:], "-f", c.file), r.args...)...)
			if got.code != int(r.code) {
				t.Errorf("exit %d, want %d: %s%s", got.code, r.code, got.out, got.err)
			}
			if r.code != exitDone && !strings.Contains(strings.ToLower(got.err), "openstack") {
				t.Errorf("it says %q", got.err)
			}
		})
	}
	walk((&tool{}).root())
}
