package openstack

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Bounds of lists.
const (
	// mostPages of one list; a server that always has one more is not taken at its word.
	mostPages = 200
	// namesAtOnce are looked for with one request, so that its URL stays below what
	// servers take.
	namesAtOnce = 100
)

// Read implements API with one list of each kind, side by side, and then the ports: of
// the owner's networks, and of the owner's names.
func (c *Client) Read(ctx context.Context, q Query) (*Actual, error) {
	a := &Actual{Project: c.project}
	mine := url.Values{"project_id": {c.project}}
	together, first := errgroup.WithContext(ctx)
	together.Go(func() (err error) {
		a.External, err = list(first, c, KindNetwork, url.Values{"router:external": {"true"}}, wireNetwork.network)
		return err
	})
	together.Go(func() (err error) {
		a.Networks, err = list(first, c, KindNetwork, mine, wireNetwork.network)
		return err
	})
	together.Go(func() (err error) { a.Subnets, err = list(first, c, KindSubnet, mine, wireSubnet.subnet); return err })
	together.Go(func() (err error) { a.Routers, err = list(first, c, KindRouter, mine, wireRouter.router); return err })
	together.Go(func() (err error) { a.Groups, err = list(first, c, KindGroup, mine, wireGroup.group); return err })
	together.Go(func() (err error) {
		a.Floating, err = list(first, c, KindFloating, mine, wireFloating.floating)
		return err
	})
	if err := together.Wait(); err != nil {
		return nil, err
	}
	return a, c.readPorts(ctx, q, a)
}

// readPorts reads the ports, when the networks are known: a port that is made after the
// list of networks was read is then never on a network that we know only half of.
func (c *Client) readPorts(ctx context.Context, q Query, a *Actual) error {
	together, ctx := errgroup.WithContext(ctx)
	h := Holding{Owner: q.Owner}
	if networks := ids(ours(&h, a.Networks, Use{For: ForNetwork})); len(networks) > 0 {
		together.Go(func() (err error) {
			a.Ports, err = list(ctx, c, KindPort, url.Values{"network_id": networks}, wirePort.port)
			return err
		})
	}
	chunks := slices.Collect(slices.Chunk(q.PortNames, namesAtOnce))
	found := make([][]Port, len(chunks))
	for at, names := range chunks {
		together.Go(func() (err error) {
			found[at], err = list(ctx, c, KindPort, url.Values{"project_id": {c.project}, "name": names}, wirePort.port)
			return err
		})
	}
	var attached [2][]Port
	if q.Attached {
		for i, by := range []url.Values{
			{"device_id": ids(ours(&h, a.Routers, Use{For: ForRouter}))},
			{"security_groups": ids(ours(&h, a.Groups, Use{For: ForGroup}))},
		} {
			if len(by["device_id"])+len(by["security_groups"]) > 0 {
				together.Go(func() (err error) { attached[i], err = list(ctx, c, KindPort, by, wirePort.port); return err })
			}
		}
	}
	if err := together.Wait(); err != nil {
		return err
	}
	a.Namesakes = slices.Concat(found...)
	a.Attached = outside(slices.Concat(attached[0], attached[1]), a.Ports)
	return nil
}

// outside leaves out the ports on the owner's networks, and a router's gateway.
func outside(list, here []Port) []Port {
	return slices.DeleteFunc(list, func(p Port) bool {
		return p.DeviceOwner == "network:router_gateway" || slices.ContainsFunc(here, func(x Port) bool { return x.ID == p.ID })
	})
}

func ids[T holder](list []T) []string {
	var out []string
	for _, x := range list {
		out = append(out, x.object().ID)
	}
	return out
}

// identified is a wire object.
type identified interface{ id() string }

// list reads all pages of a list. The next page is asked for at our own address: what
// the server calls its own may be another one, behind a proxy.
func list[W identified, T any](ctx context.Context, c *Client, kind Kind, query url.Values, read func(W) T) ([]T, error) {
	at := places[kind]
	key := at.path
	if kind == KindGroup {
		key = "security_groups"
	}
	out := []T{}
	marker := ""
	for range mostPages {
		q := url.Values{}
		for name, values := range query {
			q[name] = values
		}
		if marker != "" {
			q.Set("marker", marker)
		}
		r := Request{Method: http.MethodGet, Path: at.path, Query: q}
		var page map[string]json.RawMessage
		if err := c.do(ctx, r, call{out: &page, idempotent: true}); err != nil {
			return nil, err
		}
		objects, err := objectsOf[W](r, page[key])
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			out = append(out, read(o))
		}
		next, more := nextMarker(page[key+"_links"])
		if !more {
			return out, nil
		}
		if next == "" || next == marker {
			return nil, strange(r, "the list goes on at no place")
		}
		marker = next
	}
	return nil, strange(Request{Method: http.MethodGet, Path: at.path}, "the list has more than %d pages", mostPages)
}

// objectsOf reads a list's objects. An answer without the list is not an empty one:
// what is not seen would be made again.
func objectsOf[W identified](r Request, raw json.RawMessage) ([]W, error) {
	var objects []W
	if raw == nil || string(raw) == "null" {
		return nil, strange(r, "the answer has no list")
	}
	if err := json.Unmarshal(raw, &objects); err != nil {
		return nil, strange(r, "the answer has another type than expected: %w", err)
	}
	for _, o := range objects {
		if o.id() == "" {
			return nil, strange(r, "the answer has an object without an id")
		}
	}
	return objects, nil
}

// nextMarker reads where a list goes on.
func nextMarker(raw json.RawMessage) (marker string, more bool) {
	var links []struct{ Rel, Href string }
	if raw == nil || json.Unmarshal(raw, &links) != nil {
		return "", false
	}
	for _, l := range links {
		if u, err := url.Parse(l.Href); l.Rel == "next" && err == nil {
			return u.Query().Get("marker"), true
		}
	}
	return "", false
}
