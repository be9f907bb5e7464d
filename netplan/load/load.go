package load

import (
	"fmt"
	"os"

	"homeward/netplan"
)

// Result is a file without a mistake.
type Result struct {
	// Plan is resolved. Its warnings have the paths and lines of the file.
	Plan *netplan.Plan
	// Spec is what the plan was resolved from.
	Spec netplan.Spec
	// Unused are keys that belong to other tools, in file order. A whole section
	// that is unknown is one entry.
	Unused []Key
}

// Key is where a key stands in the file.
type Key struct {
	Path string
	Line int
}

// File loads the cluster.yaml at path. A file that cannot be read is an error
// that wraps the system's; mistakes in the file are a *Faults. No more than
// MaxBytes are read, whatever path is.
func File(path string) (*Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the cluster file: %w", err)
	}
	defer f.Close()
	data, err := readBounded(f)
	if err != nil {
		return nil, fmt.Errorf("reading the cluster file: %w", err)
	}
	return Bytes(path, data)
}

// Bytes loads the text of a cluster.yaml; name stands for the file in errors.
// The error is a *Faults with every mistake at once.
func Bytes(name string, data []byte) (*Result, error) {
	root, fault := parse(data)
	if fault != nil {
		return nil, &Faults{File: name, List: []Located{*fault}}
	}
	doc := walk(root)
	spec := doc.spec()
	plan, mistakes := netplan.Resolve(spec)
	doc.join(mistakes)
	if list := doc.faults.sorted(); len(list) > 0 {
		return nil, &Faults{File: name, List: list}
	}
	doc.placeWarnings(plan)
	return &Result{Plan: plan, Spec: spec, Unused: doc.unused}, nil
}
