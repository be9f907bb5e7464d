//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"homeward/testenv/netlab/standing"
)

// stateDir is where the process that holds a lab can be found: a directory of
// the user's own that is there exactly as long as that process.
type stateDir string

// envLabDir names another directory: for a second lab, and inside the lab, where
// the user's number is another.
const envLabDir = "HOMEWARD_LAB_DIR"

func labDir() stateDir {
	if dir := os.Getenv(envLabDir); dir != "" {
		return stateDir(dir)
	}
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); runtime != "" {
		return stateDir(filepath.Join(runtime, "homeward-lab"))
	}
	return stateDir(filepath.Join(os.TempDir(), fmt.Sprintf("homeward-lab-%d", os.Getuid())))
}

func (d stateDir) socket() string { return filepath.Join(string(d), "socket") }
func (d stateDir) hosts() string  { return filepath.Join(string(d), "hosts.json") }

// answers says whether a lab is up. A directory that is not the user's own is
// none.
func (d stateDir) answers(ctx context.Context) bool {
	return d.own() == nil && standing.Down(ctx, d.socket(), false) == nil
}

// own refuses a directory that somebody else made or can write to; the error
// wraps fs.ErrNotExist when there is none.
func (d stateDir) own() error {
	info, err := os.Lstat(string(d))
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Getuid() || info.Mode().Perm() != 0o700 {
		return fmt.Errorf("%s is not a directory of yours alone: remove it", d)
	}
	return nil
}

// errBusy says that another process has the directory.
var errBusy = errors.New("a lab is up already, or on its way up or down: homeward lab down ends it")

// claim takes the directory for a lab of this process, until release, which
// removes it. What a killed lab has left does not keep it: the lock ends with the
// process.
func (d stateDir) claim() (release func() error, err error) {
	if err := os.Mkdir(string(d), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := d.own(); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(string(d), "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(errBusy, lock.Close())
	}
	// Whoever had it may have removed it between our two steps.
	ours, err := lock.Stat()
	there, errThere := os.Stat(lock.Name())
	if err != nil || errThere != nil || !os.SameFile(ours, there) {
		return nil, errors.Join(errBusy, lock.Close())
	}
	return func() error { return errors.Join(os.RemoveAll(string(d)), lock.Close()) }, nil
}

// host is one line of `homeward lab exec`.
type host struct {
	Name      string `json:"name"`
	What      string `json:"what"`
	Addresses string `json:"addresses"`
}

func (d stateDir) writeHosts(hosts []host) error {
	text, err := json.Marshal(hosts)
	if err != nil {
		return err
	}
	return os.WriteFile(d.hosts(), text, 0o600)
}

func (d stateDir) readHosts() ([]host, error) {
	text, err := os.ReadFile(d.hosts())
	if err != nil {
		return nil, err
	}
	var hosts []host
	if err := json.Unmarshal(text, &hosts); err != nil {
		return nil, fmt.Errorf("reading %s: %w", d.hosts(), err)
	}
	return hosts, nil
}
