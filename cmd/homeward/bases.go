package main

import (
	"fmt"
	"os"

	"homeward/netplan"
	"homeward/talosgen"
)

// base is one machine config that `talosctl gen config` wrote, or that an earlier
// run completed.
type base struct {
	path string
	text []byte
}

// bases are the base configs by role; empty without --base.
type bases map[netplan.Role]base

// readBases reads the files of --base and finds out whose each is. With any given,
// every role of the plan must have one. Their text is secret.
func readBases(paths []string, plan *netplan.Plan) (bases, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	out := bases{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("--base: %w", err)
		}
		role, err := talosgen.RoleOf(text)
		if err != nil {
			return nil, fmt.Errorf("--base %s: %w", path, err)
		}
		if other, twice := out[role]; twice {
			return nil, fmt.Errorf("--base: %s and %s are both for a %s: give one of each role", other.path, path, role)
		}
		out[role] = base{path, text}
	}
	for _, m := range plan.Machines {
		if _, ok := out[m.Role]; !ok {
			return nil, fmt.Errorf("--base: no config for a %s, which %s is: give controlplane.yaml,worker.yaml", m.Role, m.Name)
		}
	}
	return out, nil
}
