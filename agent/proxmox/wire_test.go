package proxmox

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
)

func TestTheTokenStaysWithItsHost(t *testing.T) {
	reached := make(chan string, 100)
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		reached <- r.Header.Get("Authorization")
		answer(w, 200, `{"data":null}`)
	})
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "PVEAPIToken=homeward@pve!test="+theSecret {
				t.Errorf("the token does not reach its own host")
			}
			http.Redirect(w, r, other.URL+r.URL.Path, status)
		})
		// The other's certificate is trusted too, so that nothing but our refusal to
		// follow keeps the token.
		client := s.client(t, func(o *Options) { o.Access.Fingerprint, o.Access.TLSVerify = "", "false" })
		for _, call := range []func(context.Context, string, url.Values, any) error{client.Get, client.Post, client.Put, client.Delete} {
			if err := call(t.Context(), "/x", nil, nil); err == nil {
				t.Errorf("%d: a redirect counts as done", status)
			}
		}
	}
	if len(reached) > 0 {
		t.Errorf("%d requests reached the other host, the first with %q", len(reached), <-reached)
	}
}

func TestProxiesAreNotUsed(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("ALL_PROXY", "http://127.0.0.1:1")
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, `{"data":[]}`) })
	// Loopback is never proxied by the library, so the transport itself is looked at.
	if transport(nil, 1).Proxy != nil {
		t.Error("the transport has a proxy")
	}
	if err := s.client(t, nil).Get(t.Context(), "/x", nil, nil); err != nil {
		t.Error(err)
	}
}

func TestRequestsOnTheWire(t *testing.T) {
	var got []string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Content-Type")+" "+string(body)+" "+r.UserAgent())
		answer(w, 200, `{"data":null}`)
	})
	client := s.client(t, func(o *Options) { o.UserAgent = "homeward/test" })
	params := url.Values{"comment": {"a b+c"}, "cidr": {"192.0.2.0/28"}}
	err := errors.Join(
		client.Post(t.Context(), Path("cluster", "firewall", "ipset", "hw-a"), params, nil),
		client.Put(t.Context(), Path("a", "192.0.2.0/28"), params, nil),
		client.Delete(t.Context(), Path("a", "b?c#d"), params, nil),
		client.Post(t.Context(), "/x", nil, nil),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`POST /api2/json/cluster/firewall/ipset/hw-a application/json {"cidr":"192.0.2.0/28","comment":"a b+c"} homeward/test`,
		`PUT /api2/json/a/192.0.2.0%2F28 application/json {"cidr":"192.0.2.0/28","comment":"a b+c"} homeward/test`,
		`DELETE /api2/json/a/b%3Fc%23d?cidr=192.0.2.0%2F28&comment=a%20b%2Bc   homeward/test`,
		`POST /api2/json/x application/json {} homeward/test`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, want := s.seen[0].String(), `POST /cluster/firewall/ipset/hw-a cidr=192.0.2.0/28 comment="a b+c"`; got != want {
		t.Errorf("observed %s, want %s", got, want)
	}
}

func TestPathsThatLeadElsewhere(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request came") })
	client := s.client(t, nil)
	for _, path := range []string{
		"", "x", "/", "/a//b", "/a/", Path("a", ".."), Path("a", "."), Path("a", ""), Path("a", "b\nc"), Path("a", "b\x00"), "/a?b", "/a#b", "/a%2", "https://evil.example/a",
	} {
		if err := client.Delete(t.Context(), path, nil, nil); !errors.Is(err, ledger.ErrRefused) {
			t.Errorf("%q: %v", path, err)
		}
	}
	if err := client.Post(t.Context(), "/x", url.Values{"a": {"1", "2"}}, nil); !errors.Is(err, ledger.ErrRefused) {
		t.Errorf("two values: %v", err)
	}
}
