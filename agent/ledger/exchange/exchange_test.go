package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"homeward/agent/ledger"
	"homeward/agent/ledger/exchange"
)

const limit = 1 << 20

// ask has a server answer once, through the transport.
func ask(t *testing.T, choices bool, answer http.HandlerFunc) (string, error) {
	t.Helper()
	server := httptest.NewServer(answer)
	defer server.Close()
	w := &exchange.Whole{
		Next: http.DefaultTransport, Timeout: 200 * time.Millisecond, Limit: limit, Field: "x.url", Choices: choices,
		Foreign: func(contentType string, _ []byte) string { return exchange.NotJSON(contentType, "x.url") },
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := w.RoundTrip(r)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(res.Body)
	return fmt.Sprintf("%d with %d bytes", res.StatusCode, len(body)), err
}

func TestWhole(t *testing.T) {
	say := func(status int, kind string, size int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Location", "https://u:p@elsewhere.example/?token=secret")
			w.WriteHeader(status)
			io.WriteString(w, strings.Repeat("x", size))
		}
	}
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		choices bool
		want    string // the answer, or a part of the error
	}{
		"whole":                       {say(200, "application/json; charset=utf-8", 10), false, "200 with 10 bytes"},
		"of the most bytes":           {say(200, "application/json", limit), false, fmt.Sprintf("200 with %d bytes", limit)},
		"a byte more":                 {say(200, "application/json", limit+1), false, "the answer is over 1 MiB"},
		"a web page":                  {say(200, "text/html", 10), false, "is a web page, not JSON: is x.url the address"},
		"a text":                      {say(201, "text/plain", 10), false, "is no JSON: is x.url the address"},
		"a refusal, cut off":          {say(500, "text/html", 70<<10), false, "500 with 65536 bytes"},
		"a redirect":                  {say(302, "", 0), false, "sends us elsewhere (elsewhere.example), and the token must not follow: is x.url"},
		"choices":                     {say(300, "application/json", 5), true, "300 with 5 bytes"},
		"choices that nobody wants":   {say(300, "application/json", 5), false, "sends us elsewhere"},
		"a redirect beside choices":   {say(307, "", 0), true, "sends us elsewhere"},
		"slower than the time it has": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false, context.DeadlineExceeded.Error()},
		"broken off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "0123456789")
		}, false, "broke off after 10 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t, c.choices, c.answer)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) || strings.Contains(got, "secret") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestNoConnection(t *testing.T) {
	hints := exchange.Hints{Authority: "ca", Name: "name", TLS: "tls", Refused: "port"}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	dial := func(client *http.Client, to string) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, to, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(r)
		if err == nil {
			res.Body.Close()
		}
		return err
	}
	encrypted := httptest.NewTLSServer(nil)
	defer encrypted.Close()
	plain := httptest.NewServer(nil)
	defer plain.Close()
	named := strings.Replace(encrypted.URL, "127.0.0.1", "localhost", 1)
	for name, c := range map[string]struct {
		err         error
		class       error
		cause, hint string
	}{
		"an authority nobody knows": {dial(&http.Client{}, encrypted.URL), ledger.ErrRefused, "signed by nobody we know", "ca"},
		"another name":              {dial(encrypted.Client(), named), ledger.ErrRefused, "for another name", "name"},
		"no TLS":                    {dial(&http.Client{}, strings.Replace(plain.URL, "http:", "https:", 1)), ledger.ErrRefused, "does not speak TLS", "tls"},
		"nobody listens":            {dial(&http.Client{}, "http://127.0.0.1:1/"), ledger.ErrBusy, "nothing listens on h", "port"},
		"no such name":              {&url.Error{Err: &net.DNSError{Err: "no such host"}}, ledger.ErrBusy, "the name of h was not found", ""},
		"no answer":                 {&url.Error{Err: context.DeadlineExceeded}, ledger.ErrBusy, "h does not answer", ""},
		"something else":            {&url.Error{URL: "http://h/?token=secret", Err: errors.New("no\x1b[1m luck")}, ledger.ErrBusy, "no connection to h: no [1m luck", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := exchange.NoConnection("h", c.err, hints)
			if got.Class != c.class || got.Hint != c.hint || !strings.Contains(got.Cause.Error(), c.cause) || strings.Contains(got.Cause.Error(), "secret") {
				t.Errorf("%v (%s): %v, want %v (%s): %s", got.Class, got.Hint, got.Cause, c.class, c.hint, c.cause)
			}
		})
	}
}

func TestBroken(t *testing.T) {
	for want, err := range map[string]error{
		"no answer within 1.5s":                                 &url.Error{Err: context.DeadlineExceeded},
		"the connection was reset":                              &url.Error{Err: &net.OpError{Err: syscall.ECONNRESET}},
		"the connection was closed before the answer was whole": fmt.Errorf("reading: %w", io.ErrUnexpectedEOF),
		"odd": &url.Error{URL: "http://h/?token=secret", Err: errors.New("odd")},
	} {
		if got := exchange.Broken(err, 1500*time.Millisecond); got.Error() != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"  two\r\n lines\t": "two lines", "a\x1b]0;title\x07b": "a ]0;title b", "\u2028x\u009b": "x", "\xff\xfe": "",
		strings.Repeat("ä", 200): strings.Repeat("ä", 150) + "...",
	} {
		if got := exchange.OneLine(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
