package proxmox

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Rights are what a token may do, by path and then by privilege. That a privilege
// stands there means that the token has it on that path; its value, that it has it
// on everything below as well.
type Rights map[string]map[string]Flag

// ReadRights asks for the token's own. It takes no right.
func ReadRights(ctx context.Context, api API) (Rights, error) {
	var r Rights
	if err := api.Get(ctx, Path("access", "permissions"), nil, &r); err != nil {
		return nil, fmt.Errorf("reading what the token may do: %w", err)
	}
	return r, nil
}

// Has says that the token has one of the privileges on path. The server lists the
// paths that something was granted on; what is between follows from the nearest
// one above. It does not list a path on which everything was taken away again, so
// that such a hole within a granted tree is not seen.
func (r Rights) Has(path string, anyOf ...string) bool {
	return slices.ContainsFunc(anyOf, func(p string) bool { return r.has(path, p) })
}

func (r Rights) has(path, privilege string) bool {
	if here, ok := r[path]; ok {
		_, has := here[privilege]
		return has
	}
	for path != "/" {
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
		if path == "" {
			path = "/"
		}
		if above, ok := r[path]; ok {
			return bool(above[privilege])
		}
	}
	return false
}

// Need is one right that something takes.
type Need struct {
	// Path is an ACL path, like /vms. Where Below it has to hold for all below too.
	Path  string
	Below bool
	// AnyOf are the privileges, the least first: that one the recipe grants.
	AnyOf []string
	// For is what it is needed for, Without what is unknown or fails without it.
	For, Without string
}

// String names privilege and path.
func (n Need) String() string {
	return strings.Join(n.AnyOf, " or ") + " on " + n.Path
}

// Lacking gives the needs that the rights do not meet.
func (r Rights) Lacking(needs ...Need) []Need {
	return slices.DeleteFunc(slices.Clone(needs), func(n Need) bool {
		return r.Has(n.Path, n.AnyOf...) && (!n.Below || r.below(n.Path, n.AnyOf))
	})
}

// below says that one of the privileges holds on everything under path that is
// listed, and is passed on to what is not.
func (r Rights) below(path string, anyOf []string) bool {
	if here, ok := r[path]; ok && !slices.ContainsFunc(anyOf, func(p string) bool { return bool(here[p]) }) {
		return false
	}
	prefix := strings.TrimSuffix(path, "/") + "/"
	for p := range r {
		if strings.HasPrefix(p, prefix) && !r.Has(p, anyOf...) {
			return false
		}
	}
	return true
}
