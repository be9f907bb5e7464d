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
	"time"
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
	data, err := read(dir)
	if err != nil {
		return "", err
	}
	return parse(dir, data)
}

// read gives the file, as far as it may be long.
func read(dir string) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, FileName))
	if err != nil {
		return nil, fmt.Errorf("reading the owner's id: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the owner's id: %w", err)
	}
	return data, nil
}

func parse(dir string, data []byte) (string, error) {
	var found []string
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			found = append(found, string(line))
		}
	}
	if len(data) > mostBytes || len(found) != 1 || !pattern.MatchString(found[0]) {
		return "", fmt.Errorf("%s does not hold one id of 16 lower-case hexadecimal digits: take the file of the first reserve from version control; "+
			"with another id this cluster's own reservations are somebody else's", filepath.Join(dir, FileName))
	}
	return found[0], nil
}

// Obtain gives the id kept in dir and makes one when there is none; made says so.
// Of several that make one at once all get the same.
func Obtain(dir string) (id string, made bool, err error) { return obtain(dir, os.Link) }

func obtain(dir string, link linker) (id string, made bool, err error) {
	id, err = loadWritten(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return id, false, err
	}
	if id, err = random(); err != nil {
		return "", false, err
	}
	text := "# The owner of this cluster's reservations: keep this file in version control,\n# beside cluster.yaml. Whoever has it acts for the cluster.\n" + id + "\n"
	err = create(dir, text, link)
	if errors.Is(err, fs.ErrExist) {
		id, err = loadWritten(dir)
		return id, false, err
	}
	if err != nil {
		return "", false, fmt.Errorf("keeping the owner's id: %w", err)
	}
	return id, true, nil
}

// writeTime is how long another may take from making the file to writing it, where it
// cannot do both at once.
const writeTime = time.Second

// loadWritten is Load that waits for a file that is not written to its end.
func loadWritten(dir string) (string, error) {
	for end := time.Now().Add(writeTime); ; time.Sleep(writeTime / 50) {
		data, err := read(dir)
		if err != nil {
			return "", err
		}
		if bytes.HasSuffix(data, []byte("\n")) || time.Now().After(end) {
			return parse(dir, data)
		}
	}
}

func random() (string, error) {
	var b [idBytes]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("making an owner's id: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// linker is os.Link.
type linker func(from, to string) error

// create makes the file whole or not at all, and never replaces one: the link
// fails with fs.ErrExist. Where a file system has no links the file is made in its
// place and then written, and is empty in between.
func create(dir, text string, link linker) (err error) {
	f, err := os.CreateTemp(dir, "."+FileName+"-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	if err := fill(f, text); err != nil {
		return err
	}
	path := filepath.Join(dir, FileName)
	err = link(f.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	in, second := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, readable)
	if second != nil {
		return second
	}
	if second := fill(in, text); second != nil {
		return errors.Join(second, os.Remove(path))
	}
	return nil
}

// readable is the mode of what goes into version control.
const readable = 0o644

// fill writes a file's text to the disk and closes it.
func fill(f *os.File, text string) error {
	_, err := f.WriteString(text)
	if err == nil {
		err = f.Chmod(readable)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
