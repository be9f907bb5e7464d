//go:build linux

package openstack

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// PlaceVariable names, when it is set, the directory of a running lab, for the
// processes that are to use that one: see [Open].
const PlaceVariable = "HOMEWARD_OPENSTACK_LAB"

// Place is where a lab is, for other processes: the file lab.json of its directory.
type Place struct {
	Dir      string `json:"dir"`
	Logs     string `json:"logs"`
	Identity string `json:"identity"` // as OS_AUTH_URL wants it
	Network  string `json:"network"`
	Password string `json:"password"` // the administrator's
}

func (p Place) file() string { return filepath.Join(p.Dir, "lab.json") }

func (p Place) write() error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(p.file(), append(text, '\n'), 0o600)
}

// Place says where the lab is.
func (c *Cloud) Place() Place { return c.place }

// Attach uses a lab that another process has started and will stop; dir is its
// directory, as [Cloud.Place] gives it.
func Attach(ctx context.Context, dir string) (*Cloud, error) {
	text, err := os.ReadFile(Place{Dir: dir}.file())
	if err != nil {
		return nil, fmt.Errorf("looking for the OpenStack lab: %w", err)
	}
	c := &Cloud{}
	if err := json.Unmarshal(text, &c.place); err != nil {
		return nil, fmt.Errorf("reading %s: %w", Place{Dir: dir}.file(), err)
	}
	return c, c.becomeAdministrator(ctx)
}

// Open uses the running lab that [PlaceVariable] names, or starts one where it
// names none. Either way the caller calls Stop at its end.
func Open(ctx context.Context, options Options) (*Cloud, error) {
	if dir := os.Getenv(PlaceVariable); dir != "" {
		return Attach(ctx, dir)
	}
	return Start(ctx, options)
}
