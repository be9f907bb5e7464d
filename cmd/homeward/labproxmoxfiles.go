package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// labToken is the token that the simulator's lines give.
type labToken struct{ id, secret string }

// exportLines is what a shell can eval.
func exportLines(urls []string, token labToken, caFile string) string {
	var b strings.Builder
	line := func(name, value string) {
		fmt.Fprintf(&b, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	line("HOMEWARD_PROXMOX_URL", urls[0])
	line("HOMEWARD_PROXMOX_TOKEN_ID", token.id)
	line("HOMEWARD_PROXMOX_TOKEN_SECRET", token.secret)
	line("HOMEWARD_PROXMOX_CA_FILE", caFile)
	line("HOMEWARD_LAB_PROXMOX_PID", fmt.Sprint(os.Getpid()))
	if len(urls) > 1 {
		line("HOMEWARD_LAB_PROXMOX_URLS", strings.Join(urls, " "))
	}
	return b.String()
}

// labFiles are the files that go when the simulator ends.
type labFiles struct{ paths []string }

// authority writes the CA, and gives its path, absolute.
func (l *labFiles) authority(f labProxmoxFlags, ca []byte) (string, error) {
	path := f.caFile
	switch {
	case path != "":
	case f.state != "":
		path = f.state + ".ca.pem"
	default:
		dir, err := os.MkdirTemp("", "homeward-proxmox-")
		if err != nil {
			return "", err
		}
		l.paths = append(l.paths, dir)
		path = filepath.Join(dir, "ca.pem")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := l.write(path, string(ca)); err != nil {
		return "", usage("--ca-file: %w", err)
	}
	return path, nil
}

// write makes a file in one step: it is there whole or not at all.
func (l *labFiles) write(path, text string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	l.paths = append(l.paths, path)
	return nil
}

// remove takes them away, the last first.
func (l *labFiles) remove() error {
	var errs []error
	for i := len(l.paths) - 1; i >= 0; i-- {
		if err := os.Remove(l.paths[i]); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
