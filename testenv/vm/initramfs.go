package vm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"homeward/testenv/vm/wire"
)

// modules are what tests need of the kernel, by name. All are loaded at boot:
// the guest has no modprobe that the kernel could call for them later, nor would
// it be called for a namespace of an ordinary user.
func modules() []string {
	return []string{
		// the machine itself: the channels first, so that the rest can be reported
		"virtio_pci", "virtio_console", "virtio_net",
		// links
		"veth", "dummy", "bridge", "8021q", "macvlan", "vxlan", "vrf", "tun", "bonding", "sch_netem",
		// connection tracking and nf_tables
		"nf_conntrack", "nf_conntrack_netlink", "nf_nat", "nf_tables", "nft_ct", "nft_chain_nat",
		"nft_nat", "nft_masq", "nft_redir", "nft_fib_inet", "nft_reject_inet", "nft_limit", "nft_log",
		"nft_numgen", "nft_hash", "nft_socket", "nft_objref", "nft_quota", "nf_log_syslog",
		// iptables, in both its forms, as kube-proxy uses it
		"nft_compat", "ip_tables", "iptable_nat", "iptable_mangle", "iptable_filter",
		"xt_mark", "xt_connmark", "xt_conntrack", "xt_comment", "xt_addrtype", "xt_MASQUERADE",
		// sockets that list sockets, as ss does
		"tcp_diag", "udp_diag",
	}
}

// moduleOptions gives the options of a module. Links that nobody made would be in
// the way of tests that count links.
func moduleOptions(name string) string {
	switch name {
	case "bonding":
		return "max_bonds=0"
	case "dummy":
		return "numdummies=0"
	}
	return ""
}

// The account files: names for the two users that tests use.
const (
	passwd = "root:x:0:0:root:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/sh\n"
	group  = "root:x:0:\nnogroup:x:65534:\n"
)

// initramfs gathers all files of the job.
func initramfs(job Job) (archive, error) {
	a := archive{}
	skeleton(a)
	libraries := hostLibraries()
	if err := a.addProgram(wire.InitPath, job.Init, libraries); err != nil {
		return nil, err
	}
	if job.Systemd {
		if err := addSystemd(a, libraries); err != nil {
			return nil, fmt.Errorf("systemd: %w", err)
		}
	}
	for _, name := range slices.Concat([]string{"ip", "dash"}, job.Commands) {
		if name == "sh" {
			continue // a link to dash, whatever it is on this machine
		}
		if err := a.addCommand(name, libraries); err != nil {
			return nil, err
		}
	}
	if err := addNames(a); err != nil {
		return nil, err
	}
	order := wire.Order{Setup: job.Setup, Systemd: job.Systemd}
	for _, b := range job.Binaries {
		if err := addBinary(a, &order, b); err != nil {
			return nil, err
		}
	}
	if err := addModules(a, &order, job); err != nil {
		return nil, err
	}
	text, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	a.add(File{Name: wire.OrderPath, Mode: 0o644, Content: text})
	for _, f := range job.Files {
		a.add(f)
	}
	return a, nil
}

// skeleton makes the directories that all programs expect, with one place for
// commands, whichever directory a program calls them from.
func skeleton(a archive) {
	for _, dir := range []string{"/proc", "/sys", "/dev", "/run", "/tmp", "/etc", "/var", insideBin, "/usr/lib64"} {
		a.add(File{Name: dir, Mode: fs.ModeDir | 0o755})
	}
	for name, target := range map[string]string{
		"/bin": "usr/bin", "/sbin": "usr/bin", "/lib": "usr/lib", "/lib64": "usr/lib64",
		"/usr/sbin": "bin", "/usr/bin/sh": "dash", "/var/run": "../run", "/etc/mtab": "../proc/mounts",
	} {
		a.add(File{Name: name, Mode: fs.ModeSymlink, Content: []byte(target)})
	}
	a.add(File{Name: "/etc/passwd", Mode: 0o644, Content: []byte(passwd)})
	a.add(File{Name: "/etc/group", Mode: 0o644, Content: []byte(group)})
}

// addNames adds the tables in which ip and nft look up names for numbers, where
// this machine has them, so that they print the same inside.
func addNames(a archive) error {
	var files []string
	for _, pattern := range []string{"/etc/iproute2/*", "/usr/share/iproute2/*", "/etc/protocols", "/etc/services"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() {
			continue // a directory for the administrator's own names
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		a.add(File{Name: file, Mode: 0o644, Content: content})
	}
	return nil
}

// addBinary adds the binary and its line in the order.
func addBinary(a archive, order *wire.Order, b Binary) error {
	loader, _, err := linked(b.File)
	if err == nil && loader != "" {
		err = errors.New("not linked statically: build it with CGO_ENABLED=0")
	}
	if err != nil {
		return fmt.Errorf("binary %s: %w", b.Name, err)
	}
	content, err := os.ReadFile(b.File)
	if err != nil {
		return err
	}
	inside := path.Join("/binaries", b.Name)
	a.add(File{Name: inside, Mode: 0o755, Content: content})
	if b.Dir != "" {
		a.add(File{Name: b.Dir, Mode: fs.ModeDir | 0o755})
	}
	timeout := b.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	order.Programs = append(order.Programs, wire.Program{
		Name: b.Name, Argv: slices.Concat([]string{inside}, b.Args), Env: b.Env, Dir: b.Dir, Timeout: timeout,
	})
	return nil
}

// addModules adds the kernel's modules and their order.
func addModules(a archive, order *wire.Order, job Job) error {
	files, err := job.Kernel.Modules(modules())
	if err != nil {
		return err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		inside := path.Join("/modules", filepath.Base(file))
		a.add(File{Name: inside, Mode: 0o644, Content: content})
		order.Modules = append(order.Modules, wire.Module{
			Path: inside, Options: moduleOptions(strings.TrimSuffix(filepath.Base(file), ".ko")),
		})
	}
	return nil
}
