//go:build linux

package openstack_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (a *api) tag(collection, id string, tags ...string) reply {
	a.t.Helper()
	return a.do("PUT", collection+"/"+id+"/tags", m{"tags": append([]string{}, tags...)})
}

func TestListsByEveryFilter(t *testing.T) {
	a := facts(t, nil)
	s := a.site(false)
	tagged := func(name, address, description string, tags ...string) m {
		made := a.make("ports", with(fixed(s, address), m{"name": name, "description": description}))
		a.wants("tagging", "200", a.tag("ports", made["id"].(string), tags...))
		return made
	}
	one := tagged("one", "10.0.0.11", "what is: ours", "red", "owner=a")
	two := tagged("two", "10.0.0.12", "what is: theirs", "red", "owner=b")
	tagged("One", "10.0.0.13", "")
	for query, want := range map[string][]string{
		"name=one":                     {"One", "one"}, // the database compares names without case
		"name=on":                      {},
		"name=one&name=two":            {"One", "one", "two"},
		"tags=red":                     {"one", "two"},
		"tags=red,owner%3Da":           {"one"},
		"tags-any=owner%3Da,owner%3Db": {"one", "two"},
		"not-tags=red":                 {"One"},
		"tags=Red":                     {"one", "two"}, // and tags
		"description=" + url.QueryEscape("what is: ours"): {"one"},
		"description=what":                                       {},
		"project_id=" + a.project.ID:                             {"One", "one", "two"},
		"project_id=" + missing:                                  {},
		"fixed_ips=ip_address%3D10.0.0.12":                       {"two"},
		"fixed_ips=subnet_id%3D" + s.subnet:                      {"One", "one", "two"},
		"mac_address=" + one["mac_address"].(string):             {"one"},
		"id=" + one["id"].(string) + "&id=" + two["id"].(string): {"one", "two"},
	} {
		if diff := cmp.Diff(want, a.names("ports", query+"&network_id="+s.network)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	a.wants("an unknown filter", "400 HTTPBadRequest", a.do("GET", "ports?colour=red", nil))
	a.wants("floating addresses by name", "400 HTTPBadRequest", a.do("GET", "floatingips?name=one", nil))
	page := a.do("GET", "ports?limit=1&network_id="+s.network, nil)
	if page.body["ports_links"] == nil || len(page.body["ports"].([]any)) != 1 {
		t.Errorf("with a limit: %v", page.body)
	}
	if all := a.do("GET", "ports?network_id="+s.network, nil); all.body["ports_links"] != nil || len(all.body["ports"].([]any)) != 3 {
		t.Errorf("without a limit: %v", all.body)
	}
}

// Every kind has descriptions, which can be given at once, and tags, which mostly
// cannot.
func TestDescriptionsAndTags(t *testing.T) {
	a := facts(t, nil)
	s := a.site(false)
	for collection, fields := range map[string]m{
		"networks": {}, "routers": {}, "security-groups": {"name": "g"}, "floatingips": {"floating_network_id": a.public()},
		"subnets": {"network_id": s.network, "ip_version": 4, "cidr": "10.1.0.0/24"}, "ports": {"network_id": s.network},
	} {
		tagged := "400 HTTPBadRequest"
		if collection == "ports" {
			tagged = "201"
		}
		a.wants(collection+" made with tags", tagged, a.create(collection, with(fields, m{"tags": []string{"red"}})))
		mark := "of " + a.project.ID + " " + s.network
		made := a.make(collection, with(fields, m{"description": mark}))
		a.wants("tagging "+collection, "200", a.tag(collection, made["id"].(string), "t"+s.network))
		for _, query := range []string{"description=" + url.QueryEscape(mark), "tags=t" + s.network} {
			r := a.do("GET", collection+"?"+query, nil)
			list := r.body[strings.ReplaceAll(collection, "-", "_")].([]any)
			if len(list) != 1 || list[0].(m)["id"] != made["id"] {
				t.Errorf("%s by %s: %v", collection, query, list)
			}
		}
	}
}

func TestLimitsOfText(t *testing.T) {
	a := facts(t, nil)
	id := a.port(a.site(false), "")
	for _, field := range []string{"name", "description"} {
		a.wants("255 of "+field, "200", a.update("ports", id, m{field: strings.Repeat("d", 255)}))
		a.wants("256 of "+field, "400 HTTPBadRequest", a.update("ports", id, m{field: strings.Repeat("d", 256)}))
	}
	for _, tag := range []string{"a,b", "a/b", "a b", "", "ü", strings.Repeat("t", 255)} {
		a.wants(fmt.Sprintf("tag %q", tag), "200", a.tag("ports", id, tag))
		if got := a.get("ports", id)["tags"]; fmt.Sprint(got) != fmt.Sprint([]string{tag}) {
			t.Errorf("tag %q became %v", tag, got)
		}
	}
	a.wants("256 of a tag", "400 InvalidInput", a.tag("ports", id, strings.Repeat("t", 256)))
	a.wants("a tag twice", "400 InvalidInput", a.tag("ports", id, "t", "t"))
	a.wants("a tag of nothing", "404 TagResourceNotFound", a.tag("ports", missing, "t"))
	a.wants("a zone not there, network", "404 AvailabilityZoneNotFound", a.create("networks", m{"availability_zone_hints": []string{"nova"}}))
	a.wants("a zone not there, router", "404 AvailabilityZoneNotFound", a.create("routers", m{"availability_zone_hints": []string{"nova"}}))
}

func TestRevisions(t *testing.T) {
	a := facts(t, nil)
	id := a.port(a.site(false), "")
	revision := func() string { return fmt.Sprintf("revision_number=%v", a.get("ports", id)["revision_number"]) }
	first := revision()
	a.wants("the present one", "200", a.update("ports", id, m{"description": "x"}, "If-Match", first))
	if revision() == first {
		t.Error("a change has left the revision")
	}
	a.wants("a stale one", "412 RevisionNumberConstraintFailed", a.update("ports", id, m{"description": "y"}, "If-Match", first))
	a.wants("deleting a stale one", "412 RevisionNumberConstraintFailed", a.do("DELETE", "ports/"+id, nil, "If-Match", first))
	a.wants("tagging a stale one", "500 HTTPInternalServerError", a.do("PUT", "ports/"+id+"/tags", m{"tags": []string{"t"}}, "If-Match", first))
	a.wants("not a revision", "200", a.update("ports", id, m{"description": "z"}, "If-Match", "z"))
	before := revision()
	a.wants("no change", "200", a.update("ports", id, m{"description": "z"}))
	if revision() == before {
		t.Error("a request that changes nothing has left the revision")
	}
	// It is no lock: of four at once any number may be told 200. One is sure to be.
	at := revision()
	if verdicts := together(4, func() string { return a.update("ports", id, m{"description": "at once"}, "If-Match", at).verdict }); !slices.Contains(verdicts, "200") {
		t.Errorf("four at once: %v", verdicts)
	}
}
