package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"homeward/testenv/pvesim"
)

// stateKeeper keeps the simulator's state in a file; with an empty path it keeps
// nothing.
type stateKeeper struct {
	path string
	// last is the file as this process wrote it.
	last os.FileInfo
}

// open gives the state to begin with: the file's, or a fresh one, which is written
// down at once so that a file that cannot be written shows now.
func (k *stateKeeper) open() (*pvesim.State, error) {
	if k.path == "" {
		return pvesim.NewState(), nil
	}
	st, err := pvesim.LoadState(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		st = pvesim.NewState()
	} else if errors.Is(err, pvesim.ErrNoState) {
		return nil, usage("--state: %w: give a file that the simulator wrote or that --example-state printed, or one that does not exist yet and will be made", err)
	} else if err != nil {
		return nil, usage("--state: %w", err)
	} else if k.last, err = os.Stat(k.path); err != nil {
		return nil, err
	}
	if err := k.save(st); err != nil {
		return nil, usage("--state: %w", err)
	}
	return st, nil
}

// save writes the state down. It refuses when somebody else has written to the
// file: another simulator, or an editor.
func (k *stateKeeper) save(st *pvesim.State) error {
	if k.path == "" {
		return nil
	}
	if k.last != nil {
		now, err := os.Stat(k.path)
		if err != nil {
			return err
		}
		if !os.SameFile(now, k.last) || !now.ModTime().Equal(k.last.ModTime()) {
			return fmt.Errorf("somebody else has changed %s: one simulator to a file", k.path)
		}
	}
	if err := st.Save(k.path); err != nil {
		return err
	}
	var err error
	k.last, err = os.Stat(k.path)
	return err
}

// exampleState prints a state for --state.
func (t *tool) exampleState() error {
	st, err := pvesim.ExampleState()
	if err != nil {
		return err
	}
	return encode(t.out, "json", st)
}

// labTokenOf finds the token that the lines give; an empty id is the one that may
// do all.
func labTokenOf(st *pvesim.State, id string) (labToken, error) {
	if id == "" {
		id, secret := st.FirstToken()
		return labToken{id, secret}, nil
	}
	secret, ok := st.Token(id)
	if !ok {
		return labToken{}, usage("--token: the state has no token %q", id)
	}
	return labToken{id, secret}, nil
}
