package image

import (
	"errors"
	"strings"
	"testing"
)

func TestParseReference(t *testing.T) {
	const digest = "sha256:0123"
	for text, want := range map[string]string{
		"registry.example.edu/homeward-agent:v1":     "registry.example.edu/homeward-agent@sha256:0123",
		"registry.example.edu:5000/a/b/agent:v1.2_3": "registry.example.edu:5000/a/b/agent@sha256:0123",
		"localhost:5000/agent:v1":                    "localhost:5000/agent@sha256:0123",
		"localhost/agent:v1":                         "localhost/agent@sha256:0123",
		"docker.io/lab/agent:v1":                     "docker.io/lab/agent@sha256:0123",
		"10.0.0.5:5000/agent:v1":                     "10.0.0.5:5000/agent@sha256:0123",
	} {
		ref, err := ParseReference(text)
		if err != nil || ref.String() != text || ref.Pinned(digest) != want {
			t.Errorf("%q: got %v, %q, %v", text, ref, ref.Pinned(digest), err)
		}
	}
	if got := (Reference{}).Pinned(digest); got != digest {
		t.Errorf("without a name: %q", got)
	}
}

func TestParseReferenceRefuses(t *testing.T) {
	for text, say := range map[string]string{
		"":                                  "no registry",
		"homeward-agent:v1":                 "no registry",
		"lab/homeward-agent:v1":             "no registry",
		"registry.example.edu/a":            "no tag",
		"registry.example.edu:5/a":          "no tag",
		"registry.example.edu/a:":           "tag",
		"registry.example.edu/A:v1":         "repository",
		"registry.example.edu/:v1":          "repository",
		"registry.example.edu/a:v 1":        "tag",
		"https://registry.example.edu/a:v1": "leave the scheme away: registry.example.edu/a:v1",
		"registry.example.edu/a:v1@sha256:" + strings.Repeat("0", 64): "digest",
		"registry.example.edu:port/a:v1":                              "registries must be valid",
	} {
		_, err := ParseReference(text)
		if err == nil || !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: got %v, want %q", text, err, say)
		}
	}
}

func TestParseReferenceKeepsSecrets(t *testing.T) {
	for _, text := range []string{
		"me:hunter2@registry.example.edu/a:v1",
		"https://me:hunter2@registry.example.edu/a:v1",
	} {
		_, err := ParseReference(text)
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "docker login") {
			t.Errorf("got %v", err)
		}
	}
}

func FuzzParseReference(f *testing.F) {
	f.Add("registry.example.edu:5000/a/b:v1")
	f.Add("u:p@h.example.edu/a:b")
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := ParseReference(text)
		if err != nil {
			return
		}
		if ref.String() != text || ref.Registry() == "" || strings.Contains(text, "@") {
			t.Errorf("%q became %q at %q", text, ref, ref.Registry())
		}
	})
}
