package talosgen

import (
	"errors"
	"fmt"

	"homeward/netplan"
)

// RoleOf says for which role a base configuration is. The error does not repeat
// what the base says.
func RoleOf(base []byte) (netplan.Role, error) {
	docs, _, err := splitBase(base)
	if err != nil {
		return "", err
	}
	for _, d := range docs {
		role := lookup(d.root, "machine", "type")
		if d.kind != kindV1Alpha1 || role == nil {
			continue
		}
		switch r := netplan.Role(role.Value); r {
		case netplan.RoleControlPlane, netplan.RoleWorker:
			return r, nil
		}
		return "", fmt.Errorf("line %d: machine.type is neither %s nor %s", d.at(role), netplan.RoleControlPlane, netplan.RoleWorker)
	}
	return "", errors.New("no machine.type in it: give a file of talosctl gen config")
}
