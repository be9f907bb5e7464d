// Package wire is what the two sides of the virtual machine say to each other:
// the order that the host puts into the initramfs, the events that the guest's
// first process sends back, and the names of the channels between them.
package wire

import "time"

// The names of the virtio-serial ports.
const (
	// EventsPort carries events from the guest, one JSON object a line.
	EventsPort = "homeward.events"
	// MonitorPort carries a test's requests to the host and the answers, one
	// line each.
	MonitorPort = "homeward.monitor"
)

// What programs inside find in their environment.
const (
	// EnvGuest is "1" inside the virtual machine.
	EnvGuest = "HOMEWARD_VM_GUEST"
	// EnvMonitor is the device file of the monitor's port.
	EnvMonitor = "HOMEWARD_VM_MONITOR"
)

// OrderPath is where the guest finds its order, and InitPath its first process.
const (
	OrderPath = "/order.json"
	InitPath  = "/init"
)

// CarryOut is the argument of the first process's program where systemd has taken
// its place and starts it as a service.
const CarryOut = "carry-out"

// SystemdPath is where systemd lies inside.
const SystemdPath = "/usr/lib/systemd/systemd"

// Order is what the guest has to do, in this order.
type Order struct {
	// Modules are kernel modules, each after those it needs.
	Modules []Module
	// Setup are commands without a shell; the first that fails ends the order.
	Setup [][]string
	// Programs run one after the other, whatever became of the one before.
	Programs []Program
	// Systemd makes systemd the first process, and the setup and the programs a
	// service of it. The modules are loaded before.
	Systemd bool `json:",omitempty"`
}

// Module is one kernel module to load.
type Module struct {
	Path string
	// Options are "name=value", with a space between; mostly none.
	Options string `json:",omitempty"`
}

// Program is one program to run.
type Program struct {
	// Name stands for the program in events.
	Name string
	// Argv is the path and the arguments.
	Argv []string
	// Env is added to the guest's own environment.
	Env []string
	// Dir is the working directory; empty is the root.
	Dir string
	// Timeout ends the program: a quit signal first, so that Go programs show
	// where they stand, then a kill.
	Timeout time.Duration
}

// EventKind says what an event is about.
type EventKind string

// The kinds of event.
const (
	// Ready says that modules and setup are done; Text is the kernel's release.
	Ready EventKind = "ready"
	// Started says that a program runs.
	Started EventKind = "started"
	// Output is what a program wrote, both outputs together.
	Output EventKind = "output"
	// Ended says how a program ended.
	Ended EventKind = "ended"
	// Failed says why the order cannot be carried out. It is the last event.
	Failed EventKind = "failed"
	// Done says that every program has run. It is the last event.
	Done EventKind = "done"
)

// Event is one report of the guest.
type Event struct {
	Kind EventKind
	// Program is the name of the program it is about; empty for the others.
	Program string `json:",omitempty"`
	// Text is output, a reason, or a release.
	Text []byte `json:",omitempty"`
	// Exit is the exit code of a program that ended: 128 and the signal's number
	// when a signal ended it.
	Exit int `json:",omitempty"`
	// TimedOut says that the program was ended because its time was over.
	TimedOut bool `json:",omitempty"`
	// Elapsed is how long the program ran.
	Elapsed time.Duration `json:",omitempty"`
	// Passed and Failed count programs by exit code, in the last event.
	Passed, Failed int `json:",omitempty"`
}
