package image

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Options are how to reach a registry.
type Options struct {
	// Keychain finds the credentials; nil means none.
	Keychain authn.Keychain
	// PlainHTTP speaks to the registry without TLS. Otherwise TLS is demanded,
	// on private addresses too.
	PlainHTTP bool
	// CAFile adds PEM certificates to the system's authorities; may be empty.
	CAFile string
	// Agent is the User-Agent; may be empty.
	Agent string
	// Log gets what is done; not nil.
	Log *slog.Logger
	// Pauses are the waits before each new attempt after a passing fault; with
	// none there is one attempt.
	Pauses []time.Duration
}

// Pauses are the waits of a push at a shell: four attempts within seven seconds.
func Pauses() []time.Duration { return []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} }

// Pushed is what a push came to.
type Pushed struct {
	// Uploaded and Present count the blobs and manifests that were sent, and those
	// that the registry had.
	Uploaded, Present int
}

// Push brings the image to the registry under the tag: first what is missing of
// the blobs, then the manifests, the tag last, so that the tag never names what
// is not whole. Pushing again does nothing.
//
// After a passing fault (the server's error, a cut connection, no answer) it goes
// on where it was, as often as there are pauses. It ends soon when ctx does. The
// error wraps ErrUnknown when the tag was sent and neither an answer nor a look
// afterwards said what came of it.
func (i *Image) Push(ctx context.Context, ref Reference, o Options) (Pushed, error) {
	base, err := newTransport(o.CAFile)
	if err != nil {
		return Pushed{}, err
	}
	defer base.CloseIdleConnections()
	what, err := i.names()
	if err != nil {
		return Pushed{}, err
	}
	w := &witness{
		inner: &guard{inner: base, host: ref.Registry(), plain: o.PlainHTTP},
		log:   o.Log, what: what, tag: ref.tag.TagStr(), digest: i.Digest,
	}
	auth, err := credentials(ctx, ref, o.Keychain)
	if err != nil {
		return Pushed{}, err
	}
	err = i.attempts(ctx, ref, w, auth, o)
	if err != nil {
		err = explain(ctx, err, circumstances{ref: ref, anonymous: auth == authn.Anonymous, plain: o.PlainHTTP})
		if w.unanswered() {
			err = marked{fmt.Errorf("%w; the tag was sent, and the registry did not say whether it wrote it: push again to settle it", err), ErrUnknown}
		}
	}
	return Pushed{w.uploaded, w.present}, err
}

// attempts pushes until it is done, the fault is not a passing one, or there are
// no more pauses.
func (i *Image) attempts(ctx context.Context, ref Reference, w http.RoundTripper, auth authn.Authenticator, o Options) error {
	options := []remote.Option{
		remote.WithTransport(w), remote.WithAuth(auth), remote.WithUserAgent(o.Agent), remote.WithJobs(1),
		// The library's own repetition sleeps through an interrupt, and multiplies
		// with ours.
		remote.WithRetryPredicate(func(error) bool { return false }), remote.WithRetryStatusCodes(),
	}
	pusher, err := remote.NewPusher(options...)
	if err != nil {
		return err
	}
	var target name.Reference = ref.tag
	if o.PlainHTTP {
		if target, err = name.NewTag(ref.String(), name.Insecure); err != nil {
			return err
		}
	}
	for n := 0; ; n++ {
		err := pusher.Push(ctx, target, i.index)
		if err == nil || n >= len(o.Pauses) || ctx.Err() != nil || !passing(err) {
			return err
		}
		o.Log.Warn(fmt.Sprintf("attempt %d of %d failed: trying again in %v", n+1, len(o.Pauses)+1, o.Pauses[n]), "error", harmless(err))
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(o.Pauses[n]):
		}
	}
}

// credentials finds what the operator logged in with.
func credentials(ctx context.Context, ref Reference, keys authn.Keychain) (authn.Authenticator, error) {
	if keys == nil {
		return authn.Anonymous, nil
	}
	auth, err := authn.Resolve(ctx, keys, ref.tag.Repository)
	if err != nil {
		return nil, fmt.Errorf("reading the credentials for %s from the docker or podman configuration: %w", ref.Registry(), err)
	}
	return auth, nil
}

// names says of every digest of the image what it is.
func (i *Image) names() (map[string]string, error) {
	all := map[string]string{i.Digest: "index"}
	for _, part := range i.Parts {
		manifest, err := part.image.Manifest()
		if err != nil {
			return nil, err
		}
		all[part.Digest] = "manifest for " + part.Platform.String()
		all[manifest.Config.Digest.String()] = "configuration for " + part.Platform.String()
		for _, l := range manifest.Layers {
			all[l.Digest.String()] = "layer for " + part.Platform.String()
		}
	}
	return all, nil
}
