package pvefs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// The files of a node's interfaces.
const (
	interfacesFile = "interfaces"
	interfacesDir  = "interfaces.d"
)

// node takes in one node of the cluster. Only this host's interfaces are known:
// they stand in no file that the nodes share.
func (r *reader) node(name string, h Host) {
	node := inventory.Node{Name: name, Online: name == h.Node}
	source := inventory.InterfacesOf(name)
	switch {
	case name != h.Node:
		r.unread(source, "they stand on that node only: read them over the API")
	case h.Network == nil:
		r.unread(source, "its network configuration cannot be read")
	default:
		node.Interfaces = r.interfaces(source, h.Network)
	}
	r.out.Nodes = append(r.out.Nodes, node)
}

// interfaces reads this host's interfaces, also those that SDN made (in
// interfaces.d).
func (r *reader) interfaces(source string, network fs.FS) []inventory.Interface {
	b, err := read(network, interfacesFile, maxFile)
	if err != nil {
		r.unread(source, err)
		return nil
	}
	p := newStanzas()
	p.parse(string(b))
	for _, pattern := range p.sources {
		r.sourced(source, pattern, network, p)
	}
	out, bad := p.interfaces()
	for _, reason := range bad {
		r.unread(source, reason)
	}
	return out
}

// sourced reads what a "source" line names, as far as it is in interfaces.d.
func (r *reader) sourced(source, pattern string, network fs.FS, p *stanzas) {
	dir, base := path.Split(strings.TrimPrefix(strings.TrimPrefix(pattern, NetworkDir), "/"))
	if path.Clean(dir) != interfacesDir {
		r.unread(source, fmt.Sprintf("they are also in %s, which is not read", netplan.Quote(pattern)))
		return
	}
	entries, err := fs.ReadDir(network, interfacesDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.unread(source, err)
	}
	for _, e := range entries {
		if ok, err := path.Match(base, e.Name()); err != nil || !ok || e.IsDir() {
			continue
		}
		b, err := read(network, path.Join(interfacesDir, e.Name()), maxFile)
		if err != nil {
			r.unread(source, err)
			continue
		}
		p.parse(string(b))
	}
}
