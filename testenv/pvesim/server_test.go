package pvesim_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/pvesim"
)

// endpoints opens one for each of the first n nodes, and gives a client of each.
func endpoints(t testing.TB, s *pvesim.Sim, n int) []*client {
	t.Helper()
	site, err := s.NewSite()
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(site.CA()) {
		t.Fatal("the CA is no PEM")
	}
	var clients []*client
	for _, node := range s.State().Nodes()[:n] {
		server, err := site.Listen("127.0.0.1:0", node)
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: 32}
		c := inProcess(t, s, node)
		c.base, c.http = server.URL(), &http.Client{Transport: transport}
		clients = append(clients, c)
		t.Cleanup(func() {
			transport.CloseIdleConnections()
			if err := server.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return clients
}

func TestParallelAdders(t *testing.T) {
	s := newSim(t, pvesim.Options{})
	nodes := endpoints(t, s, 3)
	race := func(path string, params func(int) []string) map[string]int {
		var mu sync.Mutex
		var group sync.WaitGroup
		answers := map[string]int{}
		start := make(chan struct{})
		for i := range 24 {
			group.Go(func() {
				<-start
				r, err := nodes[i%3].try("POST", path, params(i)...)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				answers[r.status]++
			})
		}
		close(start)
		group.Wait()
		return answers
	}
	one := map[string]int{"200 OK": 1, badParams: 23}
	if diff := cmp.Diff(one, race(sets, func(int) []string { return []string{"name", "lab"} })); diff != "" {
		t.Errorf("creates of one set: %s", diff)
	}
	if diff := cmp.Diff(one, race(sets+"/lab", func(int) []string { return []string{"cidr", "192.0.2.1"} })); diff != "" {
		t.Errorf("adds of one address: %s", diff)
	}
	all := map[string]int{"200 OK": 24}
	if diff := cmp.Diff(all, race(sets+"/lab", func(i int) []string { return []string{"cidr", "198.51.100." + strconv.Itoa(i)} })); diff != "" {
		t.Errorf("adds of 24 addresses: %s", diff)
	}
	if members, _ := s.State().Set(pvesim.ClusterScope, "lab"); len(members) != 25 {
		t.Errorf("%d members, want 25", len(members))
	}
	if s.MostInFlight() > 24 || s.MostInFlight() < 1 {
		t.Errorf("%d requests in flight", s.MostInFlight())
	}
}

func TestServer(t *testing.T) {
	s := newSim(t, pvesim.Options{})
	c := endpoints(t, s, 1)[0]
	t.Run("reasons are the server's own", func(t *testing.T) {
		c.refused("500 no such IPSet 'x1'", "", "GET", sets+"/x1")
	})
	t.Run("a body where none belongs", func(t *testing.T) {
		for _, method := range []string{"GET", "DELETE"} {
			r, err := http.NewRequest(method, c.base+"/api2/json"+sets, strings.NewReader("name=x1"))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.send(r); err != nil || got.status != "501 Unexpected content for method '"+method+"'" {
				t.Errorf("%s: %v %v", method, got.status, err)
			}
		}
	})
	t.Run("a body without a length", func(t *testing.T) {
		r, err := http.NewRequest("POST", c.base+"/api2/json"+sets, struct{ *strings.Reader }{strings.NewReader("name=x1")})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.send(r); err != nil || got.status != "501 chunked transfer encoding not supported" {
			t.Errorf("%v %v", got.status, err)
		}
	})
	t.Run("too large a body", func(t *testing.T) {
		r, err := http.NewRequest("POST", c.base+"/api2/json"+sets, strings.NewReader("name=x1&comment="+strings.Repeat("x", 600<<10)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.send(r); err != nil || got.code != 501 {
			t.Errorf("%v %v", got.status, err)
		}
	})
	t.Run("JSON", func(t *testing.T) {
		post := func(body string) reply {
			r, err := http.NewRequest("POST", c.base+"/api2/json"+sets, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json; charset=utf-8")
			got, err := c.send(r)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := post(`{"name":"json","comment":null}`); got.code != 200 {
			t.Errorf("%s", got.body)
		}
		if got := post(`{"name":["a","b"]}`); got.errors["name"] != "type check ('string') failed - got ARRAY" {
			t.Errorf("%s", got.body)
		}
		if got := post(`{"name":{}}`); got.errors["name"] != "type check ('string') failed - got HASH" {
			t.Errorf("%s", got.body)
		}
		if got := post(`{"name":`); got.code != 500 {
			t.Errorf("%s", got.body)
		}
	})
	t.Run("what it does not know", func(t *testing.T) {
		s.ClearLog()
		c.refused("501 Method 'GET /cluster/ceph' not implemented: the simulator does not know it", "", "GET", "/cluster/ceph")
		c.refused("501 Method 'PUT /version' not implemented: the simulator does not know it", "", "PUT", "/version")
		if diff := cmp.Diff([]string{"GET /cluster/ceph", "PUT /version"}, s.Unknown()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("another name for it is not trusted", func(t *testing.T) {
		other := *c
		other.base = strings.Replace(c.base, "127.0.0.1", "127.0.0.2", 1)
		other.http = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{}}}
		if _, err := other.try("GET", "/version"); err == nil {
			t.Error("a client without the CA trusts it")
		}
	})
}

func TestServerFaults(t *testing.T) {
	fault := pvesim.Fault{}
	s := newSim(t, pvesim.Options{Hook: func(pvesim.Request) pvesim.Fault { return fault }})
	c := endpoints(t, s, 1)[0]
	c.must("POST", sets, "name", "lab")
	fault.Answer = pvesim.AnswerDrop
	if _, err := c.try("POST", sets+"/lab", "cidr", "192.0.2.1"); err == nil {
		t.Error("an answer came over a connection that ended")
	}
	fault.Answer = pvesim.AnswerTruncated
	if _, err := c.try("GET", sets+"/lab"); err == nil {
		t.Error("half an answer is a whole one")
	}
	fault = pvesim.Fault{}
	if got := column(c.must("GET", sets+"/lab"), "cidr"); !cmp.Equal(got, []string{"192.0.2.1"}) {
		t.Errorf("members %v", got)
	}
}

func TestLogHasNoSecrets(t *testing.T) {
	s, c := guestSim(t)
	c.must("PUT", vm+"/config", "cipassword", "hunter2", "ciuser", "ops")
	log := s.Log()
	last := log[len(log)-1]
	if last.Method != "PUT" || last.Path != vm+"/config" || last.Params["ciuser"] != "ops" || last.Params["vmid"] != "100" || last.Status != 200 || last.Token != "root@pam!homeward" {
		t.Errorf("log %+v", last)
	}
	if strings.Contains(last.Params["cipassword"], "hunter2") {
		t.Error("the log has the password")
	}
}
