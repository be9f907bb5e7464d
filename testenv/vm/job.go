package vm

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"path"
	"regexp"
	"time"

	"homeward/testenv/vm/debian"
)

// The machine and the time that a job gets when it says nothing else.
const (
	defaultMemory  = 1024 // MiB
	defaultTimeout = 3 * time.Minute
)

// Job is one life of a virtual machine.
type Job struct {
	// Kernel is what it boots.
	Kernel debian.Kernel
	// Init is the file of its first process: homeward/testenv/vm/init, built
	// static.
	Init string
	// Binaries run one after the other, whatever became of the one before.
	Binaries []Binary
	// Commands are programs of this machine that the binaries call. They go into
	// /usr/bin with the libraries they are linked with; sh is dash.
	Commands []string
	// Files are further files. Their directories are made.
	Files []File
	// NICs are the virtio NICs, in the order in which the kernel finds them.
	NICs []NIC
	// Systemd makes this machine's systemd the first process, with the journal and
	// its targets but no other units; the setup and the binaries are a service then.
	Systemd bool
	// Setup are commands, without a shell, that run before the first binary.
	Setup [][]string
	// Output gets what the binaries write as it comes; nil discards it. The result
	// has it too.
	Output io.Writer
	// Memory in MiB; zero is 1024. The whole initramfs lies in it.
	Memory int
}

// Binary is one program to run.
type Binary struct {
	// Name stands for it in results. It is unique and no path.
	Name string
	// File is the program's file on this machine, linked statically.
	File string
	Args []string
	// Env is added to the guest's own environment, which has little more than a
	// PATH.
	Env []string
	// Dir is its working directory inside; it is made. Empty is the root.
	Dir string
	// Timeout ends it; zero is three minutes.
	Timeout time.Duration
}

// File is a file for the initramfs.
type File struct {
	// Name is its absolute path inside.
	Name string
	// Mode is its permissions; with fs.ModeSymlink Content is the target.
	Mode    fs.FileMode
	Content []byte
}

// NIC is a virtio NIC that is plugged in at boot and can be unplugged.
type NIC struct {
	// ID names it to the monitor.
	ID string
	// MAC is its permanent address. It stays the same when the NIC is plugged in
	// again.
	MAC net.HardwareAddr
	// Segment is the hub it is connected to: NICs with the same number hear each
	// other and nobody else.
	Segment int
}

// nameForm keeps names that go into file names and QEMU's command line free of
// what has a meaning there.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

// check says what makes the job impossible.
func (j Job) check() error {
	seen := map[string]bool{}
	name := func(kind, name string) error {
		if !nameForm.MatchString(name) || seen[kind+name] {
			return fmt.Errorf("%s %q: names are unique, of letters, digits, - and _", kind, name)
		}
		seen[kind+name] = true
		return nil
	}
	if len(j.Binaries) == 0 {
		return fmt.Errorf("a job without binaries finds nothing out")
	}
	for _, b := range j.Binaries {
		if err := name("binary", b.Name); err != nil {
			return err
		}
		if b.Dir != "" && !path.IsAbs(b.Dir) {
			return fmt.Errorf("binary %s: directory %q is not absolute", b.Name, b.Dir)
		}
	}
	for _, n := range j.NICs {
		if err := name("NIC", n.ID); err != nil {
			return err
		}
		if len(n.MAC) != 6 || n.MAC[0]&1 != 0 {
			return fmt.Errorf("NIC %s: %q is no address of one Ethernet card", n.ID, n.MAC)
		}
		if n.Segment < 0 {
			return fmt.Errorf("NIC %s: segment %d is below zero", n.ID, n.Segment)
		}
	}
	for _, f := range j.Files {
		if !path.IsAbs(f.Name) || path.Clean(f.Name) != f.Name {
			return fmt.Errorf("file %q: the name is not a clean absolute path", f.Name)
		}
	}
	return nil
}
