package exchange

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxRefusal is the most of an answer that is read when it is a refusal, in bytes.
const maxRefusal = 64 << 10

// Whole is a transport that gives only answers which came whole and are the API's. The
// libraries above it would take an empty or a foreign one for success, and the HTTP
// client between the two would take the token to wherever a redirect points.
type Whole struct {
	Next http.RoundTripper
	// Timeout bounds one request with its answer; zero leaves that to the context.
	Timeout time.Duration
	// Limit is the most of a good answer, in bytes.
	Limit int
	// Field is the plan's that has the API's address, for messages: "proxmox.url".
	Field string
	// Foreign says what is wrong with a 2xx answer of up to Limit bytes, "" for nothing.
	// It repeats nothing of it.
	Foreign func(contentType string, body []byte) string
	// Choices says that 300 is an answer, a list of versions, and no redirect.
	Choices bool
}

// Fault is an answer that is not the API's.
type Fault struct {
	Status int
	Text   string
}

// Error is the text.
func (f *Fault) Error() string { return f.Text }

// RoundTrip implements http.RoundTripper. It fails with a *Fault for an answer that is
// not the API's.
func (w *Whole) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.Timeout > 0 {
		ctx, cancel := context.WithTimeout(r.Context(), w.Timeout)
		defer cancel()
		r = r.WithContext(ctx)
	}
	res, err := w.Next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	good := res.StatusCode >= 200 && res.StatusCode <= 299
	limit := maxRefusal
	if good {
		limit = w.Limit
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, int64(limit)+1))
	switch {
	case res.StatusCode >= 300 && res.StatusCode <= 399 && !(w.Choices && res.StatusCode == http.StatusMultipleChoices):
		return nil, &Fault{res.StatusCode, "the server sends us elsewhere" + elsewhere(res) + ", and the token must not follow: is " + w.Field + " the address of the API itself?"}
	case err != nil && good:
		return nil, fmt.Errorf("the answer broke off after %d bytes: %w", len(body), err)
	case good && len(body) > limit:
		return nil, &Fault{res.StatusCode, fmt.Sprintf("the answer is over %d MiB", limit>>20)}
	case good:
		if text := w.Foreign(res.Header.Get("Content-Type"), body); text != "" {
			return nil, &Fault{res.StatusCode, text}
		}
	default:
		body = body[:min(len(body), limit)]
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// NotJSON says so of a content type, "" for JSON; field is as in Whole.
func NotJSON(contentType, field string) string {
	kind, _, _ := mime.ParseMediaType(contentType)
	what := "is no JSON"
	switch {
	case kind == "application/json":
		return ""
	case strings.Contains(kind, "html"):
		what = "is a web page, not JSON"
	}
	return "the answer " + what + ": is " + field + " the address of the API itself?"
}

// elsewhere names the host of a redirect.
func elsewhere(res *http.Response) string {
	u, err := url.Parse(res.Header.Get("Location"))
	if err != nil || u.Host == "" {
		return ""
	}
	return " (" + OneLine(u.Host) + ")"
}
