package image

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func mustReference(t *testing.T, text string) Reference {
	t.Helper()
	ref, err := ParseReference(text)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// read gives the only image of a layout, as the library's own reader sees it.
func read(t *testing.T, dir string) v1.Descriptor {
	t.Helper()
	path, err := layout.FromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	outer, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(outer); err != nil {
		t.Errorf("the layout does not hold together: %v", err)
	}
	manifest, err := outer.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("got %+v, %v", manifest, err)
	}
	return manifest.Manifests[0]
}

func TestWriteDirectory(t *testing.T) {
	img := built(t)
	dir := filepath.Join(t.TempDir(), "out")
	if err := img.Write(dir, mustReference(t, "docker.io/lab/homeward-agent:v1")); err != nil {
		t.Fatal(err)
	}
	got := read(t, dir)
	want := map[string]string{keyTitle: "homeward-agent", keyRefName: "v1", keyContainerd: "docker.io/lab/homeward-agent:v1"}
	if diff := cmp.Diff(want, got.Annotations); diff != "" {
		t.Error(diff)
	}
	if got.Digest.String() != img.Digest {
		t.Errorf("got %s, want %s", got.Digest, img.Digest)
	}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if info, infoErr := e.Info(); err == nil && infoErr == nil && !e.IsDir() && info.Mode() != 0o644 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWriteArchive(t *testing.T) {
	img, dir := built(t), t.TempDir()
	ref := mustReference(t, "registry.example.edu/homeward-agent:v1")
	first, second := filepath.Join(dir, "a.tar"), filepath.Join(dir, "b.tar")
	for _, file := range []string{first, second, second} {
		if err := img.Write(file, ref); err != nil {
			t.Fatal(err)
		}
	}
	a, b := contents(t, first), contents(t, second)
	if a != b {
		t.Error("two archives of one image differ")
	}
	t.Run("as a layout", func(t *testing.T) {
		out := unpack(t, first)
		if got := read(t, out); got.Digest.String() != img.Digest {
			t.Errorf("got %s, want %s", got.Digest, img.Digest)
		}
	})
	t.Run("as Docker's older store reads it", func(t *testing.T) {
		for _, part := range img.Parts {
			tag := mustReference(t, "registry.example.edu/homeward-agent:v1-"+string(part.Platform)).tag
			loaded, err := tarball.ImageFromPath(first, &tag)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := part.image.ConfigName()
			if got, err := loaded.ConfigName(); err != nil || got != want {
				t.Errorf("%s: got %s, %v, want %s", part.Platform, got, err, want)
			}
			if err := validate.Image(loaded); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("one platform keeps the tag as it is", func(t *testing.T) {
		file := filepath.Join(dir, "one.tar")
		if err := builtOf(t, tiny(ARM64)).Write(file, ref); err != nil {
			t.Fatal(err)
		}
		if _, err := tarball.ImageFromPath(file, &ref.tag); err != nil {
			t.Error(err)
		}
	})
	leftovers(t, dir, "a.tar", "b.tar", "one.tar")
}

func TestWriteOver(t *testing.T) {
	img := built(t)
	other := tiny(AMD64)
	other.payload = "newer"
	newer := builtOf(t, other)
	parent := t.TempDir()
	at := func(name string) string { return filepath.Join(parent, name) }

	t.Run("an earlier layout of ours is replaced", func(t *testing.T) {
		for _, i := range []*Image{img, newer} {
			if err := i.Write(at("out"), Reference{}); err != nil {
				t.Fatal(err)
			}
		}
		if got := read(t, at("out")); got.Digest.String() != newer.Digest {
			t.Errorf("got %s, want %s", got.Digest, newer.Digest)
		}
		if blobs, _ := filepath.Glob(at("out/blobs/sha256/*")); len(blobs) != 4 {
			t.Errorf("%d blobs: the older image's are still there", len(blobs))
		}
	})
	t.Run("an empty directory is taken", func(t *testing.T) {
		if err := errors.Join(os.Mkdir(at("empty"), 0o755), img.Write(at("empty"), Reference{})); err != nil {
			t.Error(err)
		}
	})
	t.Run("a link to a directory stays a link", func(t *testing.T) {
		if err := errors.Join(os.Mkdir(at("real"), 0o755), os.Symlink("real", at("link")), img.Write(at("link"), Reference{})); err != nil {
			t.Fatal(err)
		}
		read(t, at("real"))
		if info, err := os.Lstat(at("link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link is gone: %v", err)
		}
	})
	t.Run("others' files are refused and stay", func(t *testing.T) {
		foreign := `{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.index.v1+json","digest":"` + img.Digest + `","size":1}]}`
		if err := errors.Join(os.Mkdir(at("others"), 0o755), os.WriteFile(at("others/index.json"), []byte(foreign), 0o600), os.WriteFile(at("file"), nil, 0o600), os.Mkdir(at("dir.tar"), 0o755)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Mkdir(at("bare"), 0o755), os.WriteFile(at("bare/index.json"), []byte(`{"schemaVersion":2}`), 0o600)); err != nil {
			t.Fatal(err)
		}
		for name, say := range map[string]string{"bare": "empty directory", "others": "empty directory", "file": ".tar", "dir.tar": "no plain file"} {
			if err := img.Write(at(name), Reference{}); err == nil || !strings.Contains(err.Error(), say) {
				t.Errorf("%s: got %v, want %q", name, err, say)
			}
		}
		if contents(t, at("others/index.json")) != foreign {
			t.Error("the foreign index was written over")
		}
	})
	t.Run("what cannot be meant", func(t *testing.T) {
		for _, path := range []string{"", "-", at("a.tar.gz"), at("a.tgz")} {
			if err := img.Write(path, Reference{}); !errors.Is(err, ErrArgument) {
				t.Errorf("%q: got %v", path, err)
			}
		}
	})
	leftovers(t, parent, "bare", "out", "empty", "real", "link", "others", "file", "dir.tar")
}

// leftovers fails when a directory holds more than the named files.
func leftovers(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(names) {
		t.Errorf("got %v, %v, want %v", entries, err, names)
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// unpack unpacks an archive, and checks what must not be in it.
func unpack(t *testing.T, file string) string {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out := t.TempDir()
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.ModTime.Unix() != 0 || h.Uid != 0 || h.Uname != "" {
			t.Errorf("%s tells of the machine: %+v", h.Name, h)
		}
		name := filepath.Join(out, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(name, 0o755)
		} else {
			var content []byte
			if content, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(name, content, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var entries []dockerEntry
	if err := json.Unmarshal([]byte(contents(t, filepath.Join(out, "manifest.json"))), &entries); err != nil {
		t.Errorf("manifest.json: %v", err)
	}
	return out
}
