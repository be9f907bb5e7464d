package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/probe"
	"homeward/cmd/homeward/internal/report"
	"homeward/netplan/load"
	"homeward/testenv/pvesim"
)

// reported runs report -o json and reads what it prints.
func reported(t *testing.T, code exitCode, args ...string) (report.Report, result) {
	t.Helper()
	r := homeward(t, append([]string{"report", "-o", "json"}, args...)...)
	if r.code != int(code) {
		t.Fatalf("%q returned %d, want %d\n%s", args, r.code, code, r.err)
	}
	var out report.Report
	if err := json.Unmarshal([]byte(r.out), &out); err != nil {
		t.Fatalf("%v\n%s", err, r.out)
	}
	return out, r
}

func TestReportKnowsWhereProxmoxRunsTheMachines(t *testing.T) {
	p := simulated(t, func(s *pvesim.State) {
		for i, name := range []string{"controlplane-01", "controlplane-02", "controlplane-03", "worker-01", "worker-02", "worker-03"} {
			node := []string{"pve1", "pve2"}[i/3]
			err := s.AddGuest(pvesim.Guest{Kind: pvesim.QEMU, VMID: 200 + i, Node: node, Running: true, Config: map[string]string{
				"name": "edge-" + name, "net0": "virtio=BC:24:11:00:00:0" + string(rune('1'+i)) + ",bridge=vmbr1",
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	file := planFile(t)
	r, _ := reported(t, exitDone, "-f", file)
	if len(r.Hosts) != 2 || r.Hosts[0].Name != "pve1" || r.Hosts[0].Loss.Quorum != report.NotKept || r.Hosts[1].Loss.Ingress != report.Lost || len(r.Unplaced) != 0 {
		t.Errorf("hosts: %+v", r.Hosts)
	}
	if r.Sources.Proxmox.State != report.SourceRead || len(r.Hosts[0].Uplinks) != 1 {
		t.Errorf("Proxmox is %+v, uplinks %q", r.Sources.Proxmox, r.Hosts[0].Uplinks)
	}
	reported(t, exitFailed, "-f", file, "--must-survive", "host")
	reported(t, exitDone, "-f", file, "--must-survive", "worker,control-plane")
	if r, _ := reported(t, exitUnknown, "-f", file, "--plan-only", "--must-survive", "host"); len(r.Hosts) != 0 {
		t.Errorf("--plan-only read Proxmox: %+v", r.Hosts)
	}
	page := p.wants(exitDone, "report", "-f", file, "-o", "html")
	if !strings.Contains(page.out, "etcd 0 of 3 left: no quorum") {
		t.Error("the page does not mark the host")
	}
	t.Setenv(load.EnvURL, "https://127.0.0.1:1")
	r, res := reported(t, exitUnknown, "-f", file)
	if r.Sources.Proxmox.State != report.SourceFailed || len(r.Unplaced) != 6 || !strings.Contains(res.err, "Proxmox was not read whole") {
		t.Errorf("Proxmox is %+v\n%s", r.Sources.Proxmox, res.err)
	}
}

func TestReportTakesWhatWasMeasured(t *testing.T) {
	file := planFile(t)
	drill := filepath.Join("internal", "report", "testdata", "drill.json")
	r, _ := reported(t, exitDone, "-f", file, "--measured", drill)
	if len(r.Measured) != 1 || r.Measured[0].Of != "an address of the pool" || r.Measured[0].File != "drill.json" {
		t.Errorf("measured: %+v", r.Measured)
	}
	if md := homeward(t, "report", "-f", file, "--measured", drill); md.code != 0 || !strings.Contains(md.out, "2.495s, to 100ms") {
		t.Errorf("exit %d: %s", md.code, md.err)
	}
}

func TestReportRefusesWhatItCannotUse(t *testing.T) {
	file := planFile(t)
	broken := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(broken, []byte("users: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"format":       {[]string{"-o", "pdf"}, `-o "pdf" is not known`},
		"question":     {[]string{"--must-survive", "flood"}, `--must-survive "flood" is not known: give some of worker, control-plane, host`},
		"nothing read": {[]string{"--plan-only", "--kubeconfig", "x"}, "--plan-only reads neither"},
		"context":      {[]string{"--context", "x"}, `--context "x" needs --kubeconfig`},
		"kubeconfig":   {[]string{"--kubeconfig", broken}, "--kubeconfig: reading the kubeconfig"},
		"measured":     {[]string{"--measured", file}, "--measured: cluster.yaml is no summary"},
		"no file":      {[]string{"--measured", filepath.Join(t.TempDir(), "none")}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			r := homeward(t, append([]string{"report", "-f", file}, test.args...)...)
			if r.code != int(exitUsage) || r.out != "" || !strings.Contains(r.err, test.want) {
				t.Errorf("exit %d, stdout %q, stderr %s\nwant %q", r.code, r.out, r.err, test.want)
			}
		})
	}
	faulty := planFile(t, "vlan: 1691", "vlan: 4095")
	if r := homeward(t, "report", "-f", faulty, "-o", "json"); r.code != int(exitUsage) || !strings.Contains(r.out, `"errors"`) {
		t.Errorf("exit %d: %s", r.code, r.out)
	}
}

// What a probe prints is what a report reads.
func TestReportReadsWhatProbePrints(t *testing.T) {
	at := time.Date(2026, 11, 30, 18, 7, 43, 0, time.UTC)
	var text bytes.Buffer
	err := encode(&text, "json", &probe.Summary{
		Mode: probe.ModeTCP, Interval: 10 * time.Millisecond, Start: at, Length: time.Minute,
		Targets: []probe.TargetSummary{{
			Target: "api:6443", Address: "203.0.113.79:6443", Attempts: 10, Answered: 7, Failed: 2, Unknown: 1,
			Connect: &probe.Latency{P99: time.Millisecond}, OutageCount: 2, OutageTotal: 3 * time.Second, OutageLongest: 2 * time.Second,
			Interface: "eth0", MACChanges: []probe.MACChange{{Time: at, From: "02:aa:aa:aa:aa:01", To: "02:aa:aa:aa:aa:02"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "drill.json")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	r, _ := reported(t, exitDone, "-f", planFile(t), "--measured", file)
	want := []report.Measurement{{
		File: "drill.json", Target: "api:6443", Address: "203.0.113.79:6443", Of: "the Kubernetes API's VIP", Start: at, Length: time.Minute,
		Interval: 10 * time.Millisecond, Attempts: 10, Answered: 7, Failed: 2, Unknown: 1, Outages: 2, Longest: 2 * time.Second, Total: 3 * time.Second,
		P99: time.Millisecond, OnLink: true, TakeOvers: []report.TakeOver{{Time: at, From: "02:aa:aa:aa:aa:01", To: "02:aa:aa:aa:aa:02"}},
	}}
	if diff := cmp.Diff(want, r.Measured); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A token that everybody may read is warned of once, with the file's name once.
func TestReportWarnsOfAReadableToken(t *testing.T) {
	simulated(t, nil)
	file := planFile(t)
	id, secret := os.Getenv(load.EnvTokenID), os.Getenv(load.EnvTokenSecret)
	t.Setenv(load.EnvTokenID, "")
	t.Setenv(load.EnvTokenSecret, "")
	secrets := filepath.Join(filepath.Dir(file), load.SecretsFile)
	if err := os.WriteFile(secrets, []byte("proxmox: {token_id: '"+id+"', token_secret: "+secret+"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, r := reported(t, exitDone, "-f", file)
	if n := strings.Count(r.err, load.SecretsFile); n != 2 || !strings.Contains(r.err, "chmod 600 "+secrets) {
		t.Errorf("it says\n%s", r.err)
	}
	if strings.Contains(r.err, secret) {
		t.Error("the secret is said")
	}
}
