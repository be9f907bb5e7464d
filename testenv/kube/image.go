//go:build linux

package kube

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// The lab's own images. Nothing serves their names, so a pull could only fail.
const (
	pauseImage = "lab.invalid/pause:1"
	echoImage  = "lab.invalid/echo:1"
)

// makeImages builds the echo server and writes the archives of the lab's images.
func makeImages(ctx context.Context, dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "echo")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, "homeward/testenv/kube/echo")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the echo server: %w: %s", err, bytes.TrimSpace(out))
	}
	proxy, err := proxyFiles(ctx)
	if err != nil {
		return nil, err
	}
	own := map[string]string{"echo": program}
	var archives []string
	for _, i := range []struct {
		reference  string
		files      map[string]string
		entrypoint []string
	}{
		{pauseImage, own, []string{"/echo", "pause"}},
		{echoImage, own, []string{"/echo"}},
		{proxyImage, proxy, []string{"/bin/sh"}},
	} {
		archive := filepath.Join(dir, fmt.Sprintf("%d.tar", len(archives)))
		if err := writeImage(archive, i.reference, i.files, i.entrypoint); err != nil {
			return nil, fmt.Errorf("making image %s: %w", i.reference, err)
		}
		archives = append(archives, archive)
	}
	return archives, nil
}

// writeImage writes an archive with one image: files by their path inside.
func writeImage(archive, reference string, files map[string]string, entrypoint []string) error {
	tag, err := name.NewTag(reference)
	if err != nil {
		return err
	}
	layerFile := archive + ".layer"
	if err := writeLayer(layerFile, files); err != nil {
		return err
	}
	layer, err := tarball.LayerFromFile(layerFile)
	if err != nil {
		return err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: "linux", Architecture: runtime.GOARCH,
		Config: v1.Config{Entrypoint: entrypoint, WorkingDir: "/"},
		RootFS: v1.RootFS{Type: "layers", DiffIDs: diffIDs(layer)},
	})
	if err != nil {
		return err
	}
	return tarball.WriteToFile(archive, tag, image)
}

func diffIDs(layer v1.Layer) []v1.Hash {
	id, err := layer.DiffID()
	if err != nil {
		// The layer has been read once already; an image without the id is refused.
		return nil
	}
	return []v1.Hash{id}
}

func writeLayer(file string, files map[string]string) error {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for inside, source := range files {
		if err := addFile(w, inside, source); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, layer.Bytes(), 0o644)
}

func addFile(w *tar.Writer, inside, source string) error {
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Name: inside, Mode: 0o755, Size: info.Size(), Typeflag: tar.TypeReg}); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
