package pvefs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"sync"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// The directories on a Proxmox host.
const (
	ClusterDir = "/etc/pve"
	NetworkDir = "/etc/network"
)

// Host is where to read.
type Host struct {
	// Node is this host's name in the Proxmox cluster, mostly its host name.
	Node string
	// Cluster is /etc/pve, Network /etc/network; a nil Network leaves this node's
	// interfaces unread.
	Cluster, Network fs.FS
}

// The largest files that are read, in bytes. Proxmox's own file system takes no
// more than 1 MiB a file.
const (
	maxFile = 4 << 20
	maxConf = 1 << 20 // a guest's
)

// readers is how many files are read at once: each read of /etc/pve is answered by
// another process.
const readers = 8

// ReadDir reads a host's directories, mostly ClusterDir and NetworkDir. It fails
// where clusterDir is not one of a Proxmox cluster, or may not be read.
func ReadDir(node, clusterDir, networkDir string) (*inventory.Snapshot, error) {
	// A Root refuses links that lead out of it.
	cluster, err := os.OpenRoot(clusterDir)
	if err != nil {
		return nil, fmt.Errorf("opening the cluster's files: %w", err)
	}
	defer cluster.Close()
	h := Host{Node: node, Cluster: cluster.FS()}
	network, err := os.OpenRoot(networkDir)
	if err == nil {
		defer network.Close()
		h.Network = network.FS()
	}
	return Read(h)
}

// Read reads everything there is. Whether a guest runs is taken from the state that
// the nodes report to one another (.rrd), false where that says nothing.
func Read(h Host) (*inventory.Snapshot, error) {
	r := &reader{cluster: h.Cluster, out: &inventory.Snapshot{}}
	nodes, err := fs.ReadDir(h.Cluster, "nodes")
	if err != nil {
		return nil, fmt.Errorf("reading the nodes of a Proxmox cluster: %w", err)
	}
	var confs []conf
	known := false
	for _, node := range nodes {
		if !node.IsDir() {
			continue
		}
		known = known || node.Name() == h.Node
		confs = append(confs, r.confs(node.Name(), inventory.QEMU)...)
		confs = append(confs, r.confs(node.Name(), inventory.LXC)...)
		r.node(node.Name(), h)
	}
	if !known {
		return nil, fmt.Errorf("the Proxmox cluster has no node %s: it has %s", netplan.Quote(h.Node), names(nodes))
	}
	r.guests(confs)
	r.sdn()
	r.firewall()
	return r.out, nil
}

func names(nodes []fs.DirEntry) string {
	var out []string
	for _, node := range nodes {
		out = append(out, node.Name())
	}
	const shown = 10
	if len(out) > shown {
		return fmt.Sprintf("%q and %d more", out[:shown], len(out)-shown)
	}
	return fmt.Sprintf("%q", out)
}

// reader is one run of Read.
type reader struct {
	cluster fs.FS
	out     *inventory.Snapshot
}

func (r *reader) unread(source string, reason any) {
	r.out.Unread = append(r.out.Unread, inventory.Unread{Source: source, Reason: fmt.Sprint(reason)})
}

// file reads a file of the cluster that need not be there; nil when it is not, or
// when it is unread.
func (r *reader) file(name, source string) []byte {
	b, err := read(r.cluster, name, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		r.unread(source, err)
		return nil
	}
	return b
}

// read reads one regular file of at most limit bytes.
func read(fsys fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Lstat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", netplan.Quote(name))
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", netplan.Quote(name), limit)
	}
	return b, nil
}

// conf is a guest's file.
type conf struct {
	kind   inventory.GuestKind
	node   string
	vmid   int
	path   string
	result inventory.Guest
	bad    []inventory.Unread
}

// confs lists the guests of one kind on a node.
func (r *reader) confs(node string, kind inventory.GuestKind) []conf {
	dir := path.Join("nodes", node, "qemu-server")
	if kind == inventory.LXC {
		dir = path.Join("nodes", node, "lxc")
	}
	entries, err := fs.ReadDir(r.cluster, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.unread(fmt.Sprintf("guests on %s", netplan.Quote(node)), err)
	}
	var out []conf
	for _, e := range entries {
		if vmid, ok := vmidOf(e.Name(), ".conf"); ok {
			out = append(out, conf{kind: kind, node: node, vmid: vmid, path: path.Join(dir, e.Name())})
		}
	}
	return out
}

// guests reads the guests' files, several at once.
func (r *reader) guests(confs []conf) {
	running := r.running()
	var wait sync.WaitGroup
	next := make(chan *conf)
	for range min(readers, len(confs)) {
		wait.Go(func() {
			for c := range next {
				c.read(r.cluster)
			}
		})
	}
	for i := range confs {
		next <- &confs[i]
	}
	close(next)
	wait.Wait()
	r.out.Guests = slices.Grow(r.out.Guests, len(confs))
	for _, c := range confs {
		r.out.Unread = append(r.out.Unread, c.bad...)
		c.result.Running = running[c.vmid]
		r.out.Guests = append(r.out.Guests, c.result)
	}
}
