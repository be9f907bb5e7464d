//go:build linux

package openstack

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Policy is what Neutron allows, by the names of its rules, where a cloud's operator
// has changed the defaults: {"create_port:mac_address": "rule:admin_only"}. It is for
// the whole lab; the zero value has the defaults.
type Policy map[string]string

// SetPolicy changes what Neutron allows from the next request on.
func (c *Cloud) SetPolicy(p Policy) error {
	if err := p.write(c.place.Dir); err != nil {
		return fmt.Errorf("setting the policy of Neutron: %w", err)
	}
	return nil
}

// write replaces the file that Neutron's configuration names. Neutron reads it again
// when its time of change is another.
func (p Policy) write(dir string) error {
	text := []byte("{}\n")
	if len(p) > 0 {
		var err error
		if text, err = json.Marshal(p); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
