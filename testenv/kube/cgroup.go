//go:build linux

package kube

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const cgroupDir = "/sys/fs/cgroup"

// machineCount is how many machines the lab has.
const machineCount = 2

func cgroupName(machine int) string { return fmt.Sprintf("homeward-kube-%d", machine+1) }

// hierarchies lists where a machine's root of control groups has to be: once
// with cgroup v2, in each controller's tree with v1.
func hierarchies() ([]string, error) {
	if _, err := os.Stat(filepath.Join(cgroupDir, "cgroup.controllers")); err == nil {
		return []string{cgroupDir}, nil
	}
	return filepath.Glob(cgroupDir + "/*")
}

// makeCgroups makes a machine's root. In a new cpuset of v1 nothing may run until
// it has been given processors and memory.
func makeCgroups(name string) error {
	trees, err := hierarchies()
	if err != nil {
		return err
	}
	for _, tree := range trees {
		dir := filepath.Join(tree, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("making a control group: %w", err)
		}
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			text, err := os.ReadFile(filepath.Join(tree, file))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, file), text, 0)
			}
			if err != nil {
				return fmt.Errorf("preparing a control group: %w", err)
			}
		}
	}
	return nil
}

// removeCgroups removes a machine's root with all below it; there must be no
// process left in it.
func removeCgroups(name string) error {
	trees, err := hierarchies()
	if err != nil {
		return err
	}
	var errs []error
	for _, tree := range trees {
		errs = append(errs, removeTree(filepath.Join(tree, name)))
	}
	return errors.Join(errs...)
}

// removeTree removes directories only, the deepest first: a control group's files
// cannot be removed and go with it.
func removeTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		if e.IsDir() {
			errs = append(errs, removeTree(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(append(errs, os.Remove(dir))...)
}
