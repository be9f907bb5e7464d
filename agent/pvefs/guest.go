package pvefs

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io/fs"
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

// read fills in the result. A guest whose file cannot be read is still a guest.
func (c *conf) read(cluster fs.FS) {
	c.result = inventory.Guest{Kind: c.kind, VMID: c.vmid, Node: c.node}
	b, err := read(cluster, c.path, maxConf)
	if err != nil {
		c.bad = append(c.bad, inventory.Unread{Source: c.result.Source(), Reason: fmt.Sprintf("its configuration cannot be read: %v", err)})
		return
	}
	bad := parseGuest(string(b), &c.result)
	for _, line := range bad {
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
