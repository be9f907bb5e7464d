package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// The annotations under which tools look for an image's name in a layout.
const (
	keyRefName    = "org.opencontainers.image.ref.name"
	keyContainerd = "io.containerd.image.name"
)

// Write puts the image at path: as an archive when the path ends in .tar, else as
// an OCI layout directory. A zero reference leaves the image without a name.
//
// An archive replaces a plain file; a directory must be empty, missing, or an
// earlier one of ours. The old one stays whole until the new one is complete.
func (i *Image) Write(path string, ref Reference) error {
	for _, ending := range []string{".tgz", ".tar.gz", ".tar.zst", ".tar.xz"} {
		if strings.HasSuffix(path, ending) {
			return argument("--output %s: the layers are compressed already: end it in .tar", path)
		}
	}
	if path == "" || path == "-" {
		return argument("--output: name a directory, or a file that ends in .tar")
	}
	path, err := settle(path)
	if err != nil {
		return err
	}
	archive := strings.HasSuffix(path, ".tar")
	if err := replaceable(path, archive); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(path), ".homeward-image-*")
	if err != nil {
		return fmt.Errorf("making room beside %s: %w", path, err)
	}
	defer os.RemoveAll(work)
	tree := filepath.Join(work, "layout")
	if err := i.writeLayout(tree, ref); err != nil {
		return fmt.Errorf("writing the layout: %w", err)
	}
	if !archive {
		return swap(tree, path, filepath.Join(work, "old"))
	}
	file := filepath.Join(work, "archive")
	if err := i.writeArchive(tree, file, ref); err != nil {
		return fmt.Errorf("writing the archive: %w", err)
	}
	return os.Rename(file, path)
}

// settle is the absolute path behind symbolic links, so that a link stays one.
func settle(path string) (string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Abs(path)
}

// replaceable refuses to write over what is not ours.
func replaceable(path string, archive bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("looking at the output: %w", err)
	case archive && !info.Mode().IsRegular():
		return fmt.Errorf("%s is no plain file: name another, or a directory without .tar", path)
	case archive:
		return nil
	case !info.IsDir():
		return fmt.Errorf("%s is a file: end it in .tar, or name a directory", path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("looking at the output: %w", err)
	}
	if len(entries) > 0 && !ours(path, entries) {
		return fmt.Errorf("%s holds other files than an image of the agent: name an empty directory", path)
	}
	return nil
}

// ours says that a directory is a layout with nothing but images of the agent.
func ours(dir string, entries []os.DirEntry) bool {
	for _, e := range entries {
		if n := e.Name(); n != "blobs" && n != "index.json" && n != "oci-layout" {
			return false
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "index.json"))
	var index v1.IndexManifest
	if err != nil || json.Unmarshal(text, &index) != nil {
		return false
	}
	for _, m := range index.Manifests {
		if m.Annotations[keyTitle] != title {
			return false
		}
	}
	return len(index.Manifests) > 0
}

// swap puts tree where path is, and what was there into old.
func swap(tree, path, old string) error {
	moved := os.Rename(path, old) == nil
	err := os.Rename(tree, path)
	if err != nil && moved {
		return errors.Join(fmt.Errorf("putting the layout in place: %w", err), os.Rename(old, path))
	}
	return err
}

// writeLayout writes the layout with the modes of public files, whatever the
// library gives them: it makes manifests executable.
func (i *Image) writeLayout(dir string, ref Reference) error {
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	names := map[string]string{keyTitle: title}
	if ref.String() != "" {
		names[keyRefName], names[keyContainerd] = ref.tag.TagStr(), ref.normal()
	}
	if err := path.AppendIndex(i.index, layout.WithAnnotations(names)); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chmod(name, 0o644)
	})
}
