package pvefs

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// minVMID and maxVMID are Proxmox's bounds.
const minVMID, maxVMID = 100, 999_999_999

// vmidOf reads the VMID from a file's name; not ok for names of other files.
func vmidOf(name, suffix string) (int, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= minVMID && n <= maxVMID && strconv.Itoa(n) == digits
}

// conf is a guest's file.
type conf struct {
	dir    fs.FS
	entry  fs.DirEntry
	result inventory.Guest
	bad    []inventory.Unread
}

// guestDirs are a node's directories of guests.
var guestDirs = map[inventory.GuestKind]string{inventory.QEMU: "qemu-server", inventory.LXC: "lxc"}

// guests reads the guests of all nodes.
func (r *reader) guests() {
	running := r.running()
	var confs []conf
	for _, node := range r.out.Nodes {
		for _, kind := range []inventory.GuestKind{inventory.QEMU, inventory.LXC} {
			dir, err := list(r.cluster, path.Join("nodes", node.Name, guestDirs[kind]))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				r.unread(fmt.Sprintf("guests on %s", netplan.Quote(node.Name)), err)
				continue
			}
			defer dir.close()
			for _, e := range dir.entries {
				if vmid, ok := vmidOf(e.Name(), ".conf"); ok {
					confs = append(confs, conf{dir: dir, entry: e, result: inventory.Guest{Kind: kind, VMID: vmid, Node: node.Name, Running: running[vmid]}})
				}
			}
		}
	}
	each(confs, (*conf).read)
	for _, c := range confs {
		r.out.Unread = append(r.out.Unread, c.bad...)
		r.out.Guests = append(r.out.Guests, c.result)
	}
	slices.SortStableFunc(r.out.Guests, func(a, b inventory.Guest) int { return a.VMID - b.VMID })
}

// read fills in the result. A guest whose file cannot be read is still a guest.
func (c *conf) read() {
	b, err := readKind(c.dir, c.entry.Name(), c.entry.Type(), maxConf)
	if err != nil {
		c.bad = append(c.bad, inventory.Unread{Source: c.result.Source(), Reason: fmt.Sprintf("its configuration cannot be read: %v", err)})
		return
	}
	for _, line := range parseGuest(string(b), &c.result) {
		c.bad = append(c.bad, inventory.Unread{Source: c.result.Source(), Reason: fmt.Sprintf("the line %s cannot be read", netplan.Quote(line))})
	}
}

// parseGuest reads a guest's configuration: what is in force now and what is
// pending. Sections of snapshots are what the guest once was, and the one of
// cloud-init what its image was made from. Lines about its networks that are not
// "key: value" are bad.
func parseGuest(text string, g *inventory.Guest) (bad []string) {
	g.Config, g.Pending = map[string]string{}, map[string]string{}
	sum := sha1.Sum([]byte(text)) // as the server makes it; guards writes, not secrets
	g.Digest = hex.EncodeToString(sum[:])
	into, pending := g.Config, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if strings.HasPrefix(line, "[") {
			switch strings.ToLower(line) {
			case "[pending]", "[pve:pending]": // QEMU's and a container's
				into, pending = g.Pending, true
			default:
				into, pending = nil, false
			}
			continue
		}
		if into == nil || line == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case !ok || value == "" || strings.ContainsAny(key, " \t"):
			if aboutNetwork(line) {
				bad = append(bad, line)
			}
		case pending && key == "delete":
			for _, deleted := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(",; \t", r) }) {
				if deleted = strings.TrimPrefix(deleted, "!"); kept(deleted) {
					g.Pending[deleted] = ""
				}
			}
		case kept(key):
			into[key] = value
		case key == "template" && !pending:
			g.Template = value == "1"
		}
	}
	g.Name = g.Config["name"]
	if g.Kind == inventory.LXC {
		g.Name = g.Config["hostname"]
	}
	return bad
}

func aboutNetwork(key string) bool {
	return strings.HasPrefix(key, "net") || strings.HasPrefix(key, "ipconfig")
}

// kept says whether a Snapshot holds the key.
func kept(key string) bool {
	switch key {
	case "name", "hostname", "ostype", "agent", "tags":
		return true
	}
	return aboutNetwork(key)
}

// running reads which guests run from the statistics that nodes send one another:
// lines "pve2.3-vm/101:UPTIME:NAME:STATUS:...", where the kind's name changes with
// the format's version. It is no source of addresses, so that it cannot be read is
// no reason to distrust them.
func (r *reader) running() map[int]bool {
	out := map[int]bool{}
	b, err := read(r.cluster, ".rrd", maxFile)
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(b)) {
		fields := strings.SplitN(line, ":", 5)
		kind, id, _ := strings.Cut(fields[0], "/")
		if len(fields) < 4 || !strings.HasPrefix(kind, "pve") || !strings.Contains(kind, "-vm") {
			continue
		}
		if vmid, ok := vmidOf(id, ""); ok && fields[3] == "running" {
			out[vmid] = true
		}
	}
	return out
}
