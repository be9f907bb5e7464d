//go:build linux

package openstack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"homeward/testenv/openstack"
)

// m is a JSON object.
type m = map[string]any

// api is Neutron as one project sees it, without a library between: what is asked
// and what is answered are the facts that these tests record.
type api struct {
	t       *testing.T
	client  *gophercloud.ServiceClient
	project *openstack.Project
}

// reply is an answer.
type reply struct {
	verdict string // "201", or "409 OverQuota" with the type of a refusal
	message string // of a refusal
	body    m
}

// ample is a project without limits, for all tests that need no other.
var ample = sync.OnceValues(func() (*openstack.Project, error) {
	all := openstack.Quota{}
	for _, r := range []openstack.Resource{openstack.Networks, openstack.Subnets, openstack.Ports, openstack.Routers,
		openstack.FloatingIPs, openstack.Groups, openstack.GroupRules} {
		all[r] = -1
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return lab.NewProject(ctx, "facts", all)
})

// facts gives the view of a project: with a quota a new one, otherwise one that
// all tests share. The test is one of those that run at once.
func facts(t *testing.T, quota openstack.Quota) *api {
	t.Helper()
	t.Parallel() // after those that kill the database
	if quota != nil {
		p, client := member(t, quota)
		return &api{t, client, p}
	}
	wanted(t)
	p, err := ample()
	must(t, err)
	client, err := p.Client(t.Context(), lab.Identity())
	must(t, err)
	return &api{t, client, p}
}

// asAdmin is the administrator's view.
func (a *api) asAdmin() *api { return &api{a.t, lab.Admin(), nil} }

// do asks; path is below /v2.0/, header are names and values in turn.
func (a *api) do(method, path string, body any, header ...string) reply {
	a.t.Helper()
	text, err := json.Marshal(body)
	must(a.t, err)
	if body == nil {
		text = nil
	}
	request, err := http.NewRequestWithContext(a.t.Context(), method, a.client.ServiceURL()+path, bytes.NewReader(text))
	must(a.t, err)
	request.Header.Set("X-Auth-Token", a.client.Token())
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	must(a.t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	must(a.t, err)
	r := reply{verdict: fmt.Sprint(response.StatusCode), body: m{}}
	if json.Unmarshal(answer, &r.body) != nil {
		r.message = string(answer)
	}
	if e, ok := r.body["NeutronError"].(m); ok {
		r.verdict += " " + fmt.Sprint(e["type"])
		r.message = fmt.Sprint(e["message"])
	}
	return r
}

// wants fails the test when an answer is another one.
func (a *api) wants(what, want string, r reply) {
	a.t.Helper()
	if r.verdict != want {
		a.t.Errorf("%s: %s %s, want %s", what, r.verdict, r.message, want)
	}
}

// kindOf is the name of one thing of a collection: "ports" has "port".
func kindOf(collection string) string {
	return strings.ReplaceAll(strings.TrimSuffix(collection, "s"), "-", "_")
}

// create asks for one thing of a collection.
func (a *api) create(collection string, fields m) reply {
	a.t.Helper()
	return a.do("POST", collection, m{kindOf(collection): fields})
}

// update asks for a change of one thing.
func (a *api) update(collection, id string, fields m, header ...string) reply {
	a.t.Helper()
	return a.do("PUT", collection+"/"+id, m{kindOf(collection): fields}, header...)
}

// make makes one thing and gives what the server says of it.
func (a *api) make(collection string, fields m) m {
	a.t.Helper()
	r := a.create(collection, fields)
	if r.verdict != "201" {
		a.t.Fatalf("making one of %s: %s %s", collection, r.verdict, r.message)
	}
	return r.body[kindOf(collection)].(m)
}

// makeID is make for its id alone.
func (a *api) makeID(collection string, fields m) string {
	a.t.Helper()
	return a.make(collection, fields)["id"].(string)
}

// get gives one thing that must be there.
func (a *api) get(collection, id string) m {
	a.t.Helper()
	r := a.do("GET", collection+"/"+id, nil)
	if r.verdict != "200" {
		a.t.Fatalf("getting one of %s: %s %s", collection, r.verdict, r.message)
	}
	return r.body[kindOf(collection)].(m)
}

// names lists a collection by a query: the sorted names.
func (a *api) names(collection, query string) []string {
	a.t.Helper()
	r := a.do("GET", collection+"?"+query, nil)
	if r.verdict != "200" {
		a.t.Fatalf("listing %s by %s: %s %s", collection, query, r.verdict, r.message)
	}
	names := []string{}
	for _, one := range r.body[strings.ReplaceAll(collection, "-", "_")].([]any) {
		names = append(names, fmt.Sprint(one.(m)["name"]))
	}
	slices.Sort(names)
	return names
}

// site is a network with a subnet 10.0.0.0/24 and, when it is routed, a router on
// the external network.
type site struct{ network, subnet, router string }

func (a *api) site(routed bool) site {
	a.t.Helper()
	var s site
	s.network = a.makeID("networks", m{"name": "net"})
	s.subnet = a.makeID("subnets", m{"name": "sub", "network_id": s.network, "ip_version": 4, "cidr": "10.0.0.0/24"})
	if routed {
		s.router = a.makeID("routers", m{"name": "r", "external_gateway_info": m{"network_id": a.public()}})
		a.wants("adding the router's interface", "200", a.do("PUT", "routers/"+s.router+"/add_router_interface", m{"subnet_id": s.subnet}))
	}
	return s
}

// public is the id of the external network, found as a member finds it.
func (a *api) public() string {
	a.t.Helper()
	r := a.do("GET", "networks?router:external=true&name="+openstack.ExternalNet, nil)
	return r.body["networks"].([]any)[0].(m)["id"].(string)
}

// port makes a port with a fixed address; "" for any.
func (a *api) port(s site, address string) string {
	a.t.Helper()
	return a.makeID("ports", fixed(s, address))
}

// fixed is what asks for a port with a fixed address.
func fixed(s site, address string) m {
	ip := m{"subnet_id": s.subnet}
	if address != "" {
		ip["ip_address"] = address
	}
	return m{"network_id": s.network, "fixed_ips": []any{ip}}
}

// with adds fields to what asks for something.
func with(fields m, more m) m {
	all := m{}
	for _, from := range []m{fields, more} {
		for k, v := range from {
			all[k] = v
		}
	}
	return all
}
