package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// What the image says of itself. The program's name is also the file's in the
// image and the title by which our own output is known again.
const (
	title       = "homeward-agent"
	description = "Keeps every reply on the NIC its request came in by, on a Talos Linux machine with two NICs"
	licence     = "Apache-2.0"
	program     = "/" + title
)

const keyTitle = "org.opencontainers.image.title"

// Image is the agent for one or more platforms. It does not change once built,
// and may be pushed and written at the same time.
type Image struct {
	index v1.ImageIndex
	// Digest is the index's, which agent.image names: sha256:...
	Digest string
	// Parts are the platforms, in the order of the index.
	Parts []Part
}

// Part is one platform's image.
type Part struct {
	Platform Platform
	// Digest is that of the platform's manifest.
	Digest string
	// Size is what a machine pulls, in bytes: manifest, configuration and the
	// compressed layer.
	Size  int64
	image v1.Image
}

// Build makes the image of binaries that ReadBinaries has looked at.
func Build(binaries []Binary) (*Image, error) {
	out := &Image{}
	var adds []mutate.IndexAddendum
	for _, b := range binaries {
		img, err := one(b)
		if err != nil {
			return nil, fmt.Errorf("making the image for %s: %w", b.Platform, err)
		}
		part, err := describe(b.Platform, img)
		if err != nil {
			return nil, fmt.Errorf("making the image for %s: %w", b.Platform, err)
		}
		platform := b.Platform.oci()
		adds = append(adds, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &platform}})
		out.Parts = append(out.Parts, part)
	}
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), adds...)
	out.index = mutate.Annotations(index, labels(binaries[0])).(v1.ImageIndex)
	digest, err := out.index.Digest()
	if err != nil {
		return nil, fmt.Errorf("making the index: %w", err)
	}
	out.Digest = digest.String()
	return out, nil
}

// one makes the image of one platform.
func one(b Binary) (v1.Image, error) {
	content, err := layerTar(b.content)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	base, err = mutate.ConfigFile(base, &v1.ConfigFile{
		OS:           "linux",
		Architecture: string(b.Platform),
		Created:      v1.Time{Time: epoch()},
		RootFS:       v1.RootFS{Type: "layers"},
		Config:       v1.Config{Entrypoint: []string{program}, WorkingDir: "/", Labels: labels(b)},
	})
	if err != nil {
		return nil, err
	}
	img, err := mutate.Append(base, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: v1.Time{Time: epoch()}, CreatedBy: "homeward image build", Comment: program},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Annotations(img, labels(b)).(v1.Image), nil
}

// labels are the OCI annotations, which are the labels of the configuration too.
// What the binary does not know is left out. There is no source: it has no
// public home that would be true for every copy.
func labels(b Binary) map[string]string {
	all := map[string]string{
		keyTitle:                               title,
		"org.opencontainers.image.description": description,
		"org.opencontainers.image.licenses":    licence,
	}
	if b.Version != "" {
		all["org.opencontainers.image.version"] = b.Version
	}
	if b.Revision != "" {
		all["org.opencontainers.image.revision"] = b.Revision
	}
	return all
}

// epoch is every time in the image: a real one would make each build another.
func epoch() time.Time { return time.Unix(0, 0).UTC() }

// layerTar is the only layer: one file that nobody may write.
func layerTar(content []byte) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := w.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: title, Mode: 0o555, Size: int64(len(content)),
		ModTime: epoch(), Format: tar.FormatUSTAR,
	})
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// describe measures one platform's image.
func describe(p Platform, img v1.Image) (Part, error) {
	digest, err := img.Digest()
	if err != nil {
		return Part{}, err
	}
	size, err := img.Size()
	if err != nil {
		return Part{}, err
	}
	manifest, err := img.Manifest()
	if err != nil {
		return Part{}, err
	}
	size += manifest.Config.Size
	for _, l := range manifest.Layers {
		size += l.Size
	}
	return Part{Platform: p, Digest: digest.String(), Size: size, image: img}, nil
}
