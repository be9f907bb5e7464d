package pvefs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// generate makes a cluster of n guests.
func generate(n int) map[string]string {
	out := map[string]string{"nodes/pve1/lxc/100.conf": "hostname: first\n"}
	for i := range n {
		vmid := 1000 + i
		out[fmt.Sprintf("nodes/pve%d/qemu-server/%d.conf", i%10+1, vmid)] = fmt.Sprintf(
			"agent: 1\nboot: order=scsi0\ncores: 4\nipconfig1: ip=10.7.%d.%d/16\nmemory: 8192\nname: guest-%d\nnet0: virtio=02:00:00:00:%02X:%02X,bridge=vmbr1\nnet1: virtio=02:00:00:01:%02X:%02X,bridge=vmbr0,tag=1691\nscsi0: local:vm-%d-disk-0,size=32G\n",
			i>>8, i&255, i, i>>8, i&255, i>>8, i&255, vmid)
		out[fmt.Sprintf("firewall/%d.fw", vmid)] = fmt.Sprintf("[OPTIONS]\n\nenable: 1\n\n[IPSET ipfilter-net1]\n\n10.7.%d.%d\n", i>>8, i&255)
	}
	return out
}

// BenchmarkReadDir reads 10,000 guests with their firewalls from real files.
func BenchmarkReadDir(b *testing.B) {
	dir := b.TempDir()
	for name, text := range generate(10_000) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		s, err := ReadDir("pve1", dir, dir)
		if err != nil {
			b.Fatal(err)
		}
		if len(s.Guests) != 10_001 || len(s.Sets) != 10_000 {
			b.Fatalf("%d guests and %d sets", len(s.Guests), len(s.Sets))
		}
	}
}

func FuzzRead(f *testing.F) {
	for name, text := range clusterFiles {
		f.Add(name, []byte(text))
	}
	for name, text := range networkFiles {
		f.Add("network/"+name, []byte(text))
	}
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		tree := files(clusterFiles)
		network := files(networkFiles)
		if inner, ok := strings.CutPrefix(name, "network/"); ok && fs.ValidPath(inner) {
			network[inner] = &fstest.MapFile{Data: text}
		} else if fs.ValidPath(name) {
			tree[name] = &fstest.MapFile{Data: text}
		}
		s, err := Read(Host{Node: "pve1", Cluster: tree, Network: network})
		if err != nil {
			return
		}
		for _, g := range s.Guests {
			g.Cards()
		}
		if _, err := inventory.Locate(s, netplan.Segment{Bridge: "vmbr0", VLAN: 1691}); err != nil {
			t.Log(err)
		}
	})
}
