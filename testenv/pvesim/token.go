package pvesim

import (
	"crypto/subtle"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Grant gives a token privileges on a path and, when Propagate is set, on all
// below it. As in Proxmox VE a grant on a longer path replaces those above it.
type Grant struct {
	Path string `json:"path"`
	// Role is a built-in role's name, or empty for the Privileges alone.
	Role       string   `json:"role,omitempty"`
	Privileges []string `json:"privileges,omitempty"`
	Propagate  bool     `json:"propagate,omitempty"`
}

// Token is an API token. It has the rights of its grants and no others; a real
// one has those that its user has as well.
type Token struct {
	// ID is USER@REALM!NAME.
	ID     string  `json:"id"`
	Secret string  `json:"secret"`
	Grants []Grant `json:"grants"`

	cache *sync.Map // path to map[string]bool
}

// allTokenID and allSecret are the token of a fresh state, which may do all.
const (
	allTokenID = "root@pam!homeward"
	allSecret  = "0d1f7a52-5b7e-4c0e-9d35-c0ffee000001"
)

var tokenID = regexp.MustCompile(`^[^\s:/@!]+@[A-Za-z][A-Za-z0-9.\-_]+![A-Za-z][A-Za-z0-9.\-_]+$`)

// check refuses a token that could not exist.
func (t Token) check() error {
	if !tokenID.MatchString(t.ID) {
		return fmt.Errorf("token %q: an id is USER@REALM!NAME", t.ID)
	}
	if t.Secret == "" {
		return fmt.Errorf("token %s has no secret", t.ID)
	}
	for _, g := range t.Grants {
		if !strings.HasPrefix(g.Path, "/") {
			return fmt.Errorf("token %s: path %q does not start with /", t.ID, g.Path)
		}
		if _, ok := roles()[g.Role]; g.Role != "" && !ok {
			return fmt.Errorf("token %s: no role %q", t.ID, g.Role)
		}
		for _, p := range g.Privileges {
			if !slices.Contains(privileges, p) {
				return fmt.Errorf("token %s: no privilege %q", t.ID, p)
			}
		}
	}
	return nil
}

// own gives the privileges on a path by grants alone, and whether each goes on to
// what is below.
func (t *Token) own(path string) map[string]bool {
	if found, ok := t.cache.Load(path); ok {
		return found.(map[string]bool)
	}
	rights := map[string]bool{}
	for _, level := range levels(path) {
		here := map[string]bool{}
		hit := false
		for _, g := range t.Grants {
			if cleanPath(g.Path) != level || level != path && !g.Propagate {
				continue
			}
			hit = true
			for _, p := range slices.Concat(roles()[g.Role], g.Privileges) {
				here[p] = here[p] || g.Propagate
			}
		}
		if hit {
			rights = here
		}
	}
	t.cache.Store(path, rights)
	return rights
}

// levels are the path and all above it, from the top.
func levels(path string) []string {
	list := []string{"/"}
	for i := 1; i <= len(path); i++ {
		if i > 1 && (i == len(path) || path[i] == '/') {
			list = append(list, path[:i])
		}
	}
	return list
}

func cleanPath(path string) string { return "/" + strings.Trim(path, "/") }

// authenticate finds the token of an Authorization header.
func (st *State) authenticate(header string) (*Token, error) {
	rest, ok := strings.CutPrefix(header, "PVEAPIToken=")
	if !ok {
		return nil, &problem{status: http.StatusUnauthorized, message: "No ticket", bare: true}
	}
	id, secret, _ := strings.Cut(rest, "=")
	t, ok := st.tokens.get(id)
	if !ok {
		return nil, &problem{status: http.StatusUnauthorized, message: "no such token", bare: true}
	}
	if subtle.ConstantTimeCompare([]byte(secret), []byte(t.Secret)) != 1 {
		return nil, &problem{status: http.StatusUnauthorized, message: "invalid token value!", bare: true}
	}
	return t, nil
}

// rights gives a token's privileges on a path, those of a guest's pool included.
func (st *State) rights(t *Token, path string) map[string]bool {
	own := t.own(path)
	id, ok := strings.CutPrefix(path, "/vms/")
	if !ok {
		return own
	}
	g, ok := st.guestByName(id)
	if !ok || g.Pool == "" {
		return own
	}
	pool := t.own("/pool/" + g.Pool)
	if len(pool) == 0 {
		return own
	}
	all := maps.Clone(own)
	for p := range pool {
		if _, ok := all[p]; !ok {
			all[p] = false
		}
	}
	return all
}

// may says whether a token has one of the privileges on a path.
func (st *State) may(t *Token, path string, anyOf ...string) bool {
	rights := st.rights(t, path)
	return slices.ContainsFunc(anyOf, func(p string) bool { _, ok := rights[p]; return ok })
}

// mayBridge says whether a token sees a bridge or VNet: by rights on it, or on one
// of its VLANs.
func (st *State) mayBridge(t *Token, zone, bridge string, anyOf ...string) bool {
	path := "/sdn/zones/" + zone + "/" + bridge
	if st.may(t, path, anyOf...) {
		return true
	}
	return slices.ContainsFunc(t.Grants, func(g Grant) bool {
		return strings.HasPrefix(cleanPath(g.Path), path+"/") && st.may(t, cleanPath(g.Path), anyOf...)
	})
}
