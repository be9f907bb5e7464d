package image

import (
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// Reference is NAME:TAG: a registry, a repository in it, and a tag.
type Reference struct {
	tag name.Tag
	// name is what was typed, without the tag: a registry's other name must not
	// replace it.
	name string
}

// ParseReference reads NAME:TAG. It demands the registry, so that a forgotten one
// does not send the image to Docker Hub, and the tag, because "latest" would be
// another image tomorrow.
func ParseReference(text string) (Reference, error) {
	const form = "give it like registry.example.edu/homeward-agent:v1"
	first, _, _ := strings.Cut(text, "@sha256:")
	switch {
	case strings.Contains(first, "@"):
		// It is not shown: what stands before the sign may be a password.
		return Reference{}, argument("an image reference holds no user and no password: log in with `docker login` or `podman login`")
	case strings.Contains(text, "://"):
		_, rest, _ := strings.Cut(text, "://")
		return Reference{}, argument("image reference %q: leave the scheme away: %s", text, rest)
	case first != text:
		return Reference{}, argument("image reference %q: a digest follows from the image and cannot be asked for: %s", text, form)
	}
	host, repository, found := strings.Cut(text, "/")
	if !found || host != "localhost" && !strings.ContainsAny(host, ".:") {
		return Reference{}, argument("image reference %q names no registry: %s", text, form)
	}
	at := strings.LastIndexByte(repository, ':')
	if at < 0 {
		return Reference{}, argument("image reference %q has no tag: %s", text, form)
	}
	tag, err := name.NewTag(text)
	if err != nil {
		return Reference{}, argument("image reference %q: %w: %s", text, err, form)
	}
	return Reference{tag, text[:len(host)+1+at]}, nil
}

// String is NAME:TAG as it was given.
func (r Reference) String() string {
	if r.name == "" {
		return ""
	}
	return r.name + ":" + r.tag.TagStr()
}

// Pinned is the form for agent.image: NAME@sha256:..., which no later push of the
// tag can change. Without a name it is the digest alone.
func (r Reference) Pinned(digest string) string {
	if r.name == "" {
		return digest
	}
	return r.name + "@" + digest
}

// Registry is the host that is asked, with its port.
func (r Reference) Registry() string { return r.tag.RegistryStr() }

// normal is the name as containerd stores it: Docker Hub is docker.io there, not
// the host that is asked.
func (r Reference) normal() string {
	host := r.tag.RegistryStr()
	if host == name.DefaultRegistry {
		host = "docker.io"
	}
	return host + "/" + r.tag.RepositoryStr() + ":" + r.tag.TagStr()
}
