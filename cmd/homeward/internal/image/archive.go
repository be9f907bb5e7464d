package image

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// dockerEntry is an image in manifest.json, which `docker load` needs when its
// store is not containerd's. The files are those of the layout.
type dockerEntry struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// writeArchive packs a layout directory with manifest.json beside it. The same
// image gives the same bytes.
func (i *Image) writeArchive(tree, file string, ref Reference) (err error) {
	entries, err := i.dockerEntries(ref)
	if err != nil {
		return err
	}
	text, err := json.Marshal(entries)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tree, "manifest.json"), text, 0o644); err != nil {
		return err
	}
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w := tar.NewWriter(out)
	if err := pack(w, tree); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return out.Sync()
}

// dockerEntries has an entry for each platform. Docker's older store keeps one
// platform under a name and does not choose: with several, each gets its own tag.
func (i *Image) dockerEntries(ref Reference) ([]dockerEntry, error) {
	var list []dockerEntry
	for _, part := range i.Parts {
		manifest, err := part.image.Manifest()
		if err != nil {
			return nil, err
		}
		entry := dockerEntry{Config: blob(manifest.Config.Digest)}
		if name := ref.String(); name != "" {
			if len(i.Parts) > 1 {
				name += "-" + string(part.Platform)
			}
			entry.RepoTags = []string{name}
		}
		for _, l := range manifest.Layers {
			entry.Layers = append(entry.Layers, blob(l.Digest))
		}
		list = append(list, entry)
	}
	return list, nil
}

// blob is a blob's name in a layout.
func blob(h v1.Hash) string { return path.Join("blobs", h.Algorithm, h.Hex) }

// pack writes a directory's files in the order of their names, without anything
// that differs between machines.
func pack(w *tar.Writer, dir string) error {
	root := os.DirFS(dir)
	return fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		header := &tar.Header{Name: name, Mode: 0o644, ModTime: epoch(), Format: tar.FormatUSTAR, Typeflag: tar.TypeReg}
		if e.IsDir() {
			header.Name, header.Mode, header.Typeflag = name+"/", 0o755, tar.TypeDir
			return w.WriteHeader(header)
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		header.Size = info.Size()
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		in, err := root.Open(name)
		if err != nil {
			return err
		}
		defer in.Close()
		_, err = io.Copy(w, in)
		return err
	})
}
