//go:build linux

package openstack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
)

// Holdings are what a project has, by resource, each as a line with its name,
// address and id; the lists are sorted. The group "default", which every project
// gets by itself, and its rules are left out.
type Holdings map[Resource][]string

// Count is how many a project has of each resource; a resource it has none of is 0.
func (h Holdings) Count() map[Resource]int {
	counts := map[Resource]int{}
	for resource, lines := range h {
		counts[resource] = len(lines)
	}
	return counts
}

// String lists everything, a line each; empty for nothing.
func (h Holdings) String() string {
	var all []string
	for resource, lines := range h {
		for _, line := range lines {
			all = append(all, string(resource)+" "+line)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// thing is what all resources have in common, and what tells one from another.
type thing struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Floating  string `json:"floating_ip_address"`
	Direction string `json:"direction"`
	GroupID   string `json:"security_group_id"`
	FixedIPs  []struct {
		Address string `json:"ip_address"`
	} `json:"fixed_ips"`
}

func (t thing) String() string {
	words := []string{t.Name, t.Floating, t.Direction}
	for _, ip := range t.FixedIPs {
		words = append(words, ip.Address)
	}
	words = append(words, t.ID)
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// Holdings asks as administrator what a project has, for a test that looks for
// leaks: the whole of it, in seven requests.
func (c *Cloud) Holdings(ctx context.Context, project string) (Holdings, error) {
	h := Holdings{}
	spared := map[string]bool{}
	for _, resource := range []Resource{Groups, GroupRules, Networks, Subnets, Ports, Routers, FloatingIPs} {
		things, err := list(ctx, c.Admin(), resource, project)
		if err != nil {
			return nil, err
		}
		h[resource] = []string{}
		for _, t := range things {
			if resource == Groups && t.Name == "default" {
				spared[t.ID] = true
				continue
			}
			if !spared[t.GroupID] {
				h[resource] = append(h[resource], t.String())
			}
		}
		slices.Sort(h[resource])
	}
	return h, nil
}

// list gives all of a project's things of one kind: Neutron pages only for who asks
// for it.
func list(ctx context.Context, client *gophercloud.ServiceClient, resource Resource, project string) ([]thing, error) {
	path := strings.ReplaceAll(string(resource), "_", "-") + "s"
	var body map[string][]thing
	if _, err := client.Get(ctx, client.ServiceURL(path)+"?project_id="+project, &body, nil); err != nil {
		return nil, fmt.Errorf("listing the %s of project %s: %w", path, project, err)
	}
	return body[string(resource)+"s"], nil
}
