// Package allocation keeps what a provider allocated for a plan: allocation.json in
// the generated tree, which reserve writes and generate reads. It holds addresses and
// the owner's id, nothing secret.
package allocation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"homeward/netplan"
)

// FileName is what the file is called.
const FileName = "allocation.json"

// mostBytes is more than such a file ever has.
const mostBytes = 1 << 20

// Load reads an allocation. A missing file is an error that wraps fs.ErrNotExist. What
// is in it is for netplan.Plan.Allocated to judge.
func Load(path string) (netplan.Allocation, error) {
	var a netplan.Allocation
	f, err := os.Open(path)
	if err != nil {
		return a, fmt.Errorf("reading what is allocated: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no plain file", path)
	}
	if err != nil {
		return a, fmt.Errorf("reading what is allocated: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return a, fmt.Errorf("reading what is allocated: %w", err)
	}
	if err := json.Unmarshal(data, &a); err != nil || len(data) > mostBytes || a.Cluster == "" {
		return netplan.Allocation{}, fmt.Errorf("%s is not what homeward reserve writes: reserve again", path)
	}
	return a, nil
}

// Save writes an allocation, whole or not at all, and makes the directory when it is
// missing. A file that says the same already stays as it is.
func Save(path string, a netplan.Allocation) (err error) {
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding what is allocated: %w", err)
	}
	text = append(text, '\n')
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("keeping what is allocated: %w", err)
	}
	f, err := os.CreateTemp(dir, "."+FileName+"-*")
	if err != nil {
		return fmt.Errorf("keeping what is allocated: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("keeping what is allocated: %w", errors.Join(err, os.Remove(f.Name())))
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Remove removes an allocation of that owner's and says whether there was one. One of
// another owner, or what cannot be read, stays.
func Remove(path, owner string) (bool, error) {
	a, err := Load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case a.Owner != owner:
		return false, fmt.Errorf("%s stays: it is owner %s's", path, netplan.Quote(a.Owner))
	}
	if err := os.Remove(path); err != nil {
		return false, fmt.Errorf("removing what was allocated: %w", err)
	}
	return true, nil
}
