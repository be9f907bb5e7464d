package parts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// downloaded is what `go mod download -json` says of a module.
type downloaded struct{ GoMod, Dir, Error string }

// download gets a module, or finds it in the module cache.
func (b *builder) download(ctx context.Context, module, version string) (downloaded, error) {
	var d downloaded
	text, err := b.goCommand(ctx, b.cache, "CGO_ENABLED=0", "mod", "download", "-json", module+"@"+version)
	if jsonErr := json.Unmarshal(text, &d); jsonErr == nil && d.Error != "" {
		return d, fmt.Errorf("downloading %s@%s: %s", module, version, d.Error)
	}
	if err != nil {
		return d, fmt.Errorf("downloading %s@%s: %w", module, version, err)
	}
	return d, nil
}

// writeModule writes the go.mod that the source is built in, unless there is
// one: the go command has completed that with what it resolved.
func (b *builder) writeModule(ctx context.Context, s source) error {
	dir := s.dir(b.cache)
	file := filepath.Join(dir, "go.mod")
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	d, err := b.download(ctx, s.module, s.version)
	if err != nil {
		return err
	}
	theirs, err := os.ReadFile(d.GoMod)
	if err != nil {
		return err
	}
	text, err := moduleText(s, theirs)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return writeWhole(file, text)
}

// moduleText gives the go.mod of a module that only requires the source, with
// its Go version and debug settings, since those of the main module count.
func moduleText(s source, theirs []byte) ([]byte, error) {
	parsed, err := modfile.Parse(s.module+"@"+s.version+"/go.mod", theirs, nil)
	if err != nil {
		return nil, fmt.Errorf("reading a go.mod: %w", err)
	}
	ours := new(modfile.File)
	steps := []error{ours.AddModuleStmt("homeward.invalid/lab/" + s.name)}
	if parsed.Go != nil {
		steps = append(steps, ours.AddGoStmt(parsed.Go.Version))
	}
	for _, g := range parsed.Godebug {
		steps = append(steps, ours.AddGodebug(g.Key, g.Value))
	}
	steps = append(steps, ours.AddRequire(s.module, s.version))
	for _, m := range s.newer {
		steps = append(steps, ours.AddRequire(m.Path, m.Version))
	}
	if s.staging {
		staged := "v0" + strings.TrimPrefix(s.version, "v1")
		replaced := 0
		for _, r := range parsed.Require {
			if r.Mod.Version == "v0.0.0" && strings.HasPrefix(r.Mod.Path, "k8s.io/") {
				steps = append(steps, ours.AddReplace(r.Mod.Path, "", r.Mod.Path, staged))
				replaced++
			}
		}
		if replaced == 0 {
			return nil, fmt.Errorf("reading the go.mod of %s@%s: no k8s.io module at v0.0.0 in it", s.module, s.version)
		}
	}
	for _, err := range steps {
		if err != nil {
			return nil, fmt.Errorf("writing a go.mod for %s: %w", s.module, err)
		}
	}
	ours.Cleanup()
	text, err := ours.Format()
	return bytes.TrimLeft(text, "\n"), err
}

// writeWhole writes a file so that nobody sees a part of it.
func writeWhole(file string, text []byte) error {
	if err := os.WriteFile(file+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
