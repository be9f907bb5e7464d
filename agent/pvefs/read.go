package pvefs

import (
	"errors"
	"fmt"
	"io/fs"

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

// ReadDir reads a host's directories, mostly ClusterDir and NetworkDir. It fails
// where clusterDir is not one of a Proxmox cluster, or may not be read.
func ReadDir(node, clusterDir, networkDir string) (*inventory.Snapshot, error) {
	cluster, err := openRoot(clusterDir)
	if err != nil {
		return nil, fmt.Errorf("opening the cluster's files: %w", err)
	}
	defer cluster.Close()
	h := Host{Node: node, Cluster: cluster}
	network, err := openRoot(networkDir)
	if err == nil {
		defer network.Close()
		h.Network = network
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
	known := false
	for _, node := range nodes {
		if !node.IsDir() {
			r.unread("node "+netplan.Quote(node.Name()), "it is no directory, which is all that is followed")
			continue
		}
		known = known || node.Name() == h.Node
		r.node(node.Name(), h)
	}
	if !known {
		return nil, fmt.Errorf("the Proxmox cluster has no node %s: it has %s", netplan.Quote(h.Node), names(nodes))
	}
	r.guests()
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
