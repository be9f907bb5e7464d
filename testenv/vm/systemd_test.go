//go:build linux

package vm_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"homeward/testenv/vm"
)

const hostUnitDir = module + "/testenv/vm/hostunit"

// proxmoxPlan is a cluster on a Proxmox host's vmbr0, VLAN 1691.
const proxmoxPlan = `name: edge
talos: {version: v1.13.9}
kubernetes: {version: v1.36.3}
controlplane: {count: 3}
workers:
  worker: {count: 3}
network:
  cidr: 10.0.0.0/24
  dns: [10.0.0.1]
proxmox:
  url: https://pve.example.edu:8006
  network:
    cluster: {bridge: vmbr1}
    external:
      bridge: vmbr0
      vlan: 1691
      cidr: 203.0.113.0/25
      gateway: 203.0.113.1
      anchor_cidr: 169.254.32.0/20
      kubeapi_vip: 203.0.113.79
      ingress_pool: 203.0.113.75-203.0.113.78
`

// strayMAC is of a guest that has an address of the pool and is in no plan.
const strayMAC = "bc:24:11:00:01:00"

// proxmoxHost are the files of a Proxmox host that has one guest.
func proxmoxHost() []vm.File {
	return []vm.File{
		{Name: "/etc/hostname", Mode: 0o644, Content: []byte("pve1\n")},
		{Name: "/etc/group", Mode: 0o644, Content: []byte("root:x:0:\nwww-data:x:33:\nnogroup:x:65534:\n")},
		{Name: "/etc/pve/nodes/pve1/qemu-server/100.conf", Mode: 0o640,
			Content: []byte("name: stray\nnet0: virtio=" + strings.ToUpper(strayMAC) + ",bridge=vmbr0,tag=1691\n")},
		{Name: "/etc/network/interfaces", Mode: 0o644, Content: []byte("auto vmbr0\niface vmbr0 inet manual\n\tbridge-vlan-aware yes\n")},
		{Name: "/var/lib/dpkg/status", Mode: 0o644},
		{Name: "/var/lib/dpkg/available", Mode: 0o644},
		{Name: "/var/lib/dpkg/info", Mode: fs.ModeDir | 0o755},
		{Name: "/var/lib/dpkg/updates", Mode: fs.ModeDir | 0o755},
		{Name: "/var/log", Mode: fs.ModeDir | 0o755},
		// Other packages have files there, so that dpkg does not take the directories.
		{Name: "/etc/default/others", Mode: 0o644},
		{Name: "/usr/lib/systemd/system/others.target", Mode: 0o644},
	}
}

// proxmoxSetup makes vmbr0 without a leg in VLAN 1691, the gateway and the guest.
func proxmoxSetup() (setup [][]string) {
	for _, line := range []string{
		"chgrp -R www-data /etc/pve",
		"ip link add vmbr0 type bridge vlan_filtering 1 vlan_default_pvid 1",
		"ip link set vmbr0 up",
		"ip netns add router",
		"ip link add tap1 type veth peer name net0 netns router",
		"ip -n router address add 203.0.113.1/25 dev net0",
		"ip netns add stray",
		"ip link add tap100i0 type veth peer name net0 address " + strayMAC + " netns stray",
		"ip -n stray address add 203.0.113.75/25 dev net0",
		"ip -n router link set net0 up",
		"ip -n stray link set net0 up",
	} {
		setup = append(setup, strings.Fields(line))
	}
	for _, tap := range []string{"tap1", "tap100i0"} {
		setup = append(setup,
			[]string{"ip", "link", "set", tap, "master", "vmbr0", "up"},
			[]string{"bridge", "vlan", "add", "dev", tap, "vid", "1691", "pvid", "untagged"},
			[]string{"bridge", "vlan", "del", "dev", tap, "vid", "1"})
	}
	return setup
}

// goRun runs the go command in a directory.
func (b *bench) goRun(dir string, args ...string) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "go", append([]string{"run"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("go run %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// addPackages puts two versions of the Debian package and a plan into the job.
func (b *bench) addPackages(job *vm.Job) {
	b.t.Helper()
	agent := filepath.Join(b.dir, "homeward-agent")
	b.goTool("build", "-ldflags=-s -w", "-o", agent, module+"/cmd/homeward-agent")
	files := map[string]string{}
	for version, inside := range map[string]string{"v1.0.0": "/packages/first.deb", "v1.0.1": "/packages/second.deb"} {
		files[inside] = b.goRun("../deb", ".", "-agent", agent, "-version", version, "-out", b.dir)
	}
	plan := filepath.Join(b.dir, "cluster.yaml")
	if err := os.WriteFile(plan, []byte(proxmoxPlan), 0o600); err != nil {
		b.t.Fatal(err)
	}
	out := filepath.Join(b.dir, "out")
	b.goRun("../..", "./cmd/homeward", "generate", "-f", plan, "--out", out)
	files["/etc/homeward/plan.json"] = filepath.Join(out, "plan.json")
	for inside, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			b.t.Fatal(err)
		}
		job.Files = append(job.Files, vm.File{Name: inside, Mode: 0o644, Content: content})
	}
}

// TestHostUnderSystemd leads the Debian package through its life on a machine whose
// first process is systemd: the hardened service must do its work.
func TestHostUnderSystemd(t *testing.T) {
	b := newBench(t)
	job := b.job()
	job.Systemd = true
	job.Commands = slices.Concat(commands, []string{"chgrp", "rmdir", "dpkg", "dpkg-deb", "dpkg-split", "tar", "diff", "ldconfig", "start-stop-daemon"})
	job.Files, job.Setup = proxmoxHost(), proxmoxSetup()
	b.addPackages(&job)
	b.add(&job, testPackage{ImportPath: hostUnitDir, Dir: "hostunit"})
	b.run(job)
}
