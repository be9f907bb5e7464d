package image

import (
	"archive/tar"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// TestBuildDigest pins every byte of the image: a change of it changes what
// operators have pinned, and must be meant. A Go release that compresses otherwise
// changes it too.
func TestBuildDigest(t *testing.T) {
	const golden = "sha256:29fa3ca29451560c35a833e5d336f6d18ecc688c102d949340b9fffdb7e320b0"
	first, second := built(t), built(t)
	if first.Digest != second.Digest {
		t.Errorf("two builds: %s and %s", first.Digest, second.Digest)
	}
	if first.Digest != golden {
		t.Errorf("got %s, want %s", first.Digest, golden)
	}
	other := tiny(ARM64)
	other.payload = "x"
	if changed := builtOf(t, tiny(AMD64), other); changed.Digest == golden {
		t.Error("another binary has the same digest")
	}
}

func TestBuildIndex(t *testing.T) {
	img := built(t)
	manifest, err := img.index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for n, m := range manifest.Manifests {
		got = append(got, m.Platform.String()+" "+string(m.MediaType))
		if m.Digest.String() != img.Parts[n].Digest {
			t.Errorf("part %d is %s, in the index %s", n, img.Parts[n].Digest, m.Digest)
		}
	}
	want := []string{"linux/amd64 " + string(types.OCIManifestSchema1), "linux/arm64 " + string(types.OCIManifestSchema1)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if manifest.MediaType != types.OCIImageIndex || manifest.SchemaVersion != 2 {
		t.Errorf("the index is %s of version %d", manifest.MediaType, manifest.SchemaVersion)
	}
}

func TestBuildConfig(t *testing.T) {
	agent := tiny(ARM64)
	agent.info = agentInfo("abc", "false")
	img := builtOf(t, agent).Parts[0].image
	got, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{
		"org.opencontainers.image.title":       "homeward-agent",
		"org.opencontainers.image.description": description,
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     "v0.1.0",
		"org.opencontainers.image.revision":    "abc",
	}
	epoch := v1.Time{Time: epoch()}
	diffID := got.RootFS.DiffIDs
	want := &v1.ConfigFile{
		OS: "linux", Architecture: "arm64", Created: epoch,
		Config:  v1.Config{Entrypoint: []string{"/homeward-agent"}, WorkingDir: "/", Labels: labels},
		History: []v1.History{{Created: epoch, CreatedBy: "homeward image build", Comment: "/homeward-agent"}},
		RootFS:  v1.RootFS{Type: "layers", DiffIDs: diffID},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	manifest, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(labels, manifest.Annotations); diff != "" {
		t.Errorf("annotations: %s", diff)
	}
	if manifest.Config.MediaType != types.OCIConfigJSON || len(manifest.Layers) != 1 || manifest.Layers[0].MediaType != types.OCILayer {
		t.Errorf("got %+v", manifest)
	}
}

func TestBuildLayer(t *testing.T) {
	agent := tiny(AMD64)
	agent.payload = strings.Repeat("home ", 5000)
	part := builtOf(t, agent).Parts[0]
	layers, err := part.image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("got %d layers, %v", len(layers), err)
	}
	r, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	files := tar.NewReader(r)
	h, err := files.Next()
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(files)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(agent.bytes(t)), string(content)); diff != "" {
		t.Error("the file in the layer is not the binary")
	}
	type file struct {
		Name, User, Group string
		Kind              byte
		Mode, Time        int64
		UID, GID          int
	}
	want := file{Name: "homeward-agent", Kind: tar.TypeReg, Mode: 0o555}
	got := file{h.Name, h.Uname, h.Gname, h.Typeflag, h.Mode, h.ModTime.Unix(), h.Uid, h.Gid}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := files.Next(); err != io.EOF {
		t.Errorf("the layer holds more: %v", err)
	}
	if part.Size <= 0 || part.Size > int64(len(content)) {
		t.Errorf("the part has %d bytes, of a file of %d that compresses", part.Size, len(content))
	}
}
