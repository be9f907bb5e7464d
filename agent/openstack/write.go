package openstack

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"

	"homeward/agent/ledger"
)

// createOne makes one object. It is never repeated by itself: what got no answer is looked
// for first.
func createOne[W identified](ctx context.Context, c *Client, kind Kind, body map[string]any) (W, error) {
	at := places[kind]
	return sendFor[W](ctx, c, Request{Method: http.MethodPost, Path: at.path}, at.key, call{body: map[string]any{at.key: body}})
}

// sendFor sends a request that is answered with one object.
func sendFor[W identified](ctx context.Context, c *Client, r Request, key string, o call) (W, error) {
	var page map[string]json.RawMessage
	var w W
	o.out = &page
	if err := c.do(ctx, r, o); err != nil {
		return w, err
	}
	if err := json.Unmarshal(page[key], &w); err != nil || w.id() == "" {
		return w, strange(r, "the answer has no %s", key)
	}
	return w, nil
}

// CreateNetwork implements API.
func (c *Client) CreateNetwork(ctx context.Context, o Object) (Network, error) {
	w, err := createOne[wireNetwork](ctx, c, KindNetwork, map[string]any{"name": o.Name, "description": o.Description})
	return w.network(), err
}

// CreateSubnet implements API.
func (c *Client) CreateSubnet(ctx context.Context, s Subnet) (Subnet, error) {
	body := map[string]any{
		"network_id": s.NetworkID, "name": s.Name, "description": s.Description, "ip_version": 4, "cidr": s.CIDR, "gateway_ip": s.Gateway,
		"dns_nameservers": nameServers(s.DNS), "enable_dhcp": true,
	}
	var pools []map[string]netip.Addr
	for _, p := range s.Pools {
		pools = append(pools, map[string]netip.Addr{"start": p[0], "end": p[1]})
	}
	if len(pools) > 0 {
		body["allocation_pools"] = pools
	}
	w, err := createOne[wireSubnet](ctx, c, KindSubnet, body)
	return w.subnet(), err
}

// nameServers is never nil: null is no list to Neutron.
func nameServers(list []netip.Addr) []netip.Addr { return append([]netip.Addr{}, list...) }

// CreateRouter implements API.
func (c *Client) CreateRouter(ctx context.Context, r Router) (Router, error) {
	w, err := createOne[wireRouter](ctx, c, KindRouter, map[string]any{"name": r.Name, "description": r.Description, "external_gateway_info": map[string]string{"network_id": r.ExternalID}})
	return w.router(), err
}

// CreateGroup implements API.
func (c *Client) CreateGroup(ctx context.Context, o Object) (Group, error) {
	w, err := createOne[wireGroup](ctx, c, KindGroup, map[string]any{"name": o.Name, "description": o.Description})
	return w.group(), err
}

// CreateRules implements API. Neutron makes all of a list or none.
func (c *Client) CreateRules(ctx context.Context, group string, rules []GroupRule) error {
	const key = "security_group_rules"
	bodies := make([]map[string]any, len(rules))
	for i, r := range rules {
		bodies[i] = r.body(group)
	}
	r := Request{Method: http.MethodPost, Path: places[KindRule].path}
	var page map[string]json.RawMessage
	if err := c.do(ctx, r, call{body: map[string]any{key: bodies}, out: &page}); err != nil {
		return err
	}
	_, err := objectsOf[wireRule](r, page[key])
	return err
}

// CreatePort implements API. It makes one with each request: of a list of ports
// Neutron (21.0, ML2's _create_port_bulk) leaves out the pairs and says nothing.
func (c *Client) CreatePort(ctx context.Context, p Port) (Port, error) {
	w, err := createOne[wirePort](ctx, c, KindPort, p.body())
	return w.port(), err
}

// CreateFloating implements API.
func (c *Client) CreateFloating(ctx context.Context, f FloatingIP) (FloatingIP, error) {
	w, err := createOne[wireFloating](ctx, c, KindFloating, map[string]any{"floating_network_id": f.NetworkID, "port_id": f.PortID, "description": f.Description})
	return w.floating(), err
}

// path is one object's.
func path(kind Kind, id string, more ...string) string {
	p, err := url.JoinPath(places[kind].path, append([]string{url.PathEscape(id)}, more...)...)
	if err != nil {
		return places[kind].path + "/"
	}
	return p
}

// changeOne replaces fields of an object.
func changeOne[W identified](ctx context.Context, c *Client, kind Kind, o Object, fields map[string]any) (W, error) {
	key := places[kind].key
	return sendFor[W](ctx, c, Request{Method: http.MethodPut, Path: path(kind, o.ID)}, key, call{body: map[string]any{key: fields}, revision: o.Revision, idempotent: true})
}

// SetGateway implements API.
func (c *Client) SetGateway(ctx context.Context, router, external string) error {
	_, err := changeOne[wireRouter](ctx, c, KindRouter, Object{ID: router}, map[string]any{"external_gateway_info": map[string]string{"network_id": external}})
	return err
}

// Plug implements API.
func (c *Client) Plug(ctx context.Context, router, subnet string) error {
	return c.do(ctx, Request{Method: http.MethodPut, Path: path(KindRouter, router, "add_router_interface")}, call{body: map[string]string{"subnet_id": subnet}})
}

// Unplug implements API.
func (c *Client) Unplug(ctx context.Context, router, subnet string) error {
	return c.do(ctx, Request{Method: http.MethodPut, Path: path(KindRouter, router, "remove_router_interface")}, call{body: map[string]string{"subnet_id": subnet}, idempotent: true})
}

// SetDNS implements API.
func (c *Client) SetDNS(ctx context.Context, s Subnet) error {
	_, err := changeOne[wireSubnet](ctx, c, KindSubnet, Object{ID: s.ID}, map[string]any{"dns_nameservers": nameServers(s.DNS)})
	return err
}

// ChangePort implements API.
func (c *Client) ChangePort(ctx context.Context, p Port, change PortChange) (Port, error) {
	fields := map[string]any{}
	if change.Fixed != nil {
		fields["fixed_ips"] = fixedBody(change.Fixed)
	}
	if change.Groups != nil {
		fields["security_groups"] = change.Groups
	}
	if change.Pairs != nil {
		fields["allowed_address_pairs"] = pairsBody(change.Pairs)
	}
	w, err := changeOne[wirePort](ctx, c, KindPort, p.Object, fields)
	return w.port(), err
}

// Associate implements API.
func (c *Client) Associate(ctx context.Context, f FloatingIP, port string) (FloatingIP, error) {
	fields := map[string]any{"port_id": nil}
	if port != "" {
		fields["port_id"] = port
	}
	w, err := changeOne[wireFloating](ctx, c, KindFloating, f.Object, fields)
	return w.floating(), err
}

// Rename implements API.
func (c *Client) Rename(ctx context.Context, kind Kind, id, name string) error {
	_, err := changeOne[wireObject](ctx, c, kind, Object{ID: id}, map[string]any{"name": name})
	return err
}

// SwitchOn implements API.
func (c *Client) SwitchOn(ctx context.Context, kind Kind, id string) error {
	field := "admin_state_up"
	if kind == KindSubnet {
		field = "enable_dhcp"
	}
	_, err := changeOne[wireObject](ctx, c, kind, Object{ID: id}, map[string]any{field: true})
	return err
}

// Tag implements API.
func (c *Client) Tag(ctx context.Context, kind Kind, id, tag string) error {
	return c.do(ctx, Request{Method: http.MethodPut, Path: path(kind, id, "tags", tag)}, call{idempotent: true})
}

// gone forgives that what is to be removed is not there.
func gone(err error) error {
	if errors.Is(err, ledger.ErrGone) {
		return nil
	}
	return err
}

// Untag implements API.
func (c *Client) Untag(ctx context.Context, kind Kind, id, tag string) error {
	return gone(c.do(ctx, Request{Method: http.MethodDelete, Path: path(kind, id, "tags", tag)}, call{idempotent: true}))
}

// Delete implements API.
func (c *Client) Delete(ctx context.Context, kind Kind, id string) error {
	return gone(c.do(ctx, Request{Method: http.MethodDelete, Path: path(kind, id)}, call{idempotent: true}))
}
