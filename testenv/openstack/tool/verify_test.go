//go:build linux

package tool

import (
	"encoding/json"
	"strings"
)

// nowhere is a kubeconfig of an API server that nobody is.
const nowhere = `apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: none}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
`

// verified is what verify's check of the reservation says. There is no cluster, so all
// that is asked of one is unknown, and the exit code with it.
func (s *site) verified() (result, seen string) {
	s.t.Helper()
	s.write("kubeconfig", nowhere)
	var r struct {
		Checks []struct {
			ID, Result string
			Seen       []string
		}
	}
	out := s.wants(exitUnknown, "verify", "--kubeconfig", "kubeconfig", "--timeout", "1s", "-o", "json")
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range r.Checks {
		if c.ID == "reservation" {
			return c.Result, strings.Join(c.Seen, "\n")
		}
	}
	s.t.Fatalf("verify has no check of the reservation:\n%s", out)
	return "", ""
}
