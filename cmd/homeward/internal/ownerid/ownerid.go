// Package ownerid keeps the id that, with the cluster's name, says who owns a
// reservation. It stands in a small file beside cluster.yaml, which goes into
// version control: whoever has it acts for the cluster.
package ownerid

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// FileName is what the file is called.
const FileName = "homeward.id"

// idBytes of randomness make two ids differ.
const idBytes = 8

// mostBytes is more than such a file ever has.
const mostBytes = 4096

var pattern = regexp.MustCompile(`^[0-9a-f]{16}$`)

// Load gives the id kept in dir. A missing file is an error that wraps
// fs.ErrNotExist; a file with anything else than one id is refused.
func Load(dir string) (string, error) {
	path := filepath.Join(dir, FileName)
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the owner's id: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return "", fmt.Errorf("reading the owner's id: %w", err)
	}
	var found []string
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			found = append(found, string(line))
		}
	}
	if len(data) > mostBytes || len(found) != 1 || !pattern.MatchString(found[0]) {
		return "", fmt.Errorf("%s does not hold one id of 16 lower-case hexadecimal digits: take the file of the first reserve from version control; "+
			"with another id this cluster's own reservations are somebody else's", path)
	}
	return found[0], nil
}

// Obtain gives the id kept in dir and makes one when there is none; made says so.
// Of several that make one at once all get the same.
func Obtain(dir string) (id string, made bool, err error) {
	id, err = Load(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return id, false, err
	}
	if id, err = random(); err != nil {
		return "", false, err
	}
	err = create(dir, "# The owner of this cluster's reservations: keep this file in version control,\n# beside cluster.yaml. Whoever has it acts for the cluster.\n"+id+"\n")
	if errors.Is(err, fs.ErrExist) {
		id, err = Load(dir)
		return id, false, err
	}
	if err != nil {
		return "", false, fmt.Errorf("keeping the owner's id: %w", err)
	}
	return id, true, nil
}

func random() (string, error) {
	var b [idBytes]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("making an owner's id: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// create makes the file whole or not at all, and never replaces one: the link
// fails with fs.ErrExist.
func create(dir, text string) (err error) {
	f, err := os.CreateTemp(dir, "."+FileName+"-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), filepath.Join(dir, FileName))
}
