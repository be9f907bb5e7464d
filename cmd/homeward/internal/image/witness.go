package image

import (
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"
)

// witness watches the requests of a push. It tells what each blob and manifest
// came to, and knows whether the last write of the tag was answered.
type witness struct {
	inner http.RoundTripper
	log   *slog.Logger
	// what names each digest: "layer for linux/amd64".
	what map[string]string
	tag  string
	// digest is the index's: the tag may be there already.
	digest string

	mu sync.Mutex
	// open says that the tag's manifest was sent and that no answer since tells
	// what the tag is.
	open bool
	// Uploaded and Present count blobs and manifests.
	uploaded, present int
}

// RoundTrip implements http.RoundTripper.
func (w *witness) RoundTrip(req *http.Request) (*http.Response, error) {
	tagged := strings.HasSuffix(req.URL.Path, "/manifests/"+w.tag)
	if tagged && req.Method == http.MethodPut {
		w.set(true)
	}
	resp, err := w.inner.RoundTrip(req)
	if err != nil {
		return resp, err
	}
	if tagged && resp.StatusCode < 500 && (req.Method == http.MethodPut || resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusNotFound) {
		// A server error, on the other hand, may come after the write.
		w.set(false)
	}
	w.note(req, resp)
	return resp, nil
}

func (w *witness) set(open bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = open
}

// unanswered says that nobody knows what the tag is.
func (w *witness) unanswered() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open
}

// note logs what is done: once for each thing.
func (w *witness) note(req *http.Request, resp *http.Response) {
	last := path.Base(req.URL.Path)
	manifest := strings.Contains(req.URL.Path, "/manifests/")
	switch {
	case req.Method == http.MethodHead && resp.StatusCode == http.StatusOK:
		digest := last
		if manifest {
			digest = resp.Header.Get("Docker-Content-Digest")
		}
		if w.what[digest] != "" && (last == digest || last == w.tag) {
			w.count(&w.present, "there already", digest)
		}
	case req.Method == http.MethodPut && resp.StatusCode == http.StatusCreated:
		digest := req.URL.Query().Get("digest")
		if manifest {
			if digest = last; last == w.tag {
				digest = w.digest
			}
		}
		w.count(&w.uploaded, "uploaded", digest)
	}
}

func (w *witness) count(n *int, verb, digest string) {
	w.mu.Lock()
	*n++
	w.mu.Unlock()
	w.log.Info(verb+": "+w.what[digest], "digest", digest)
}
