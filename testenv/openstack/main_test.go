//go:build linux

package openstack_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"homeward/testenv/openstack"
)

// lab is the cloud of all tests here, shared with other packages when there is one.
var lab *openstack.Cloud

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if !openstack.Wanted() {
		return m.Run()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var err error
	if lab, err = openstack.Open(ctx, openstack.Options{Progress: os.Stderr}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if code != 0 {
		fmt.Fprintln(os.Stderr, lab.LogTails(20))
	}
	if err := lab.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// wanted skips a test of the lab unless `make test-openstack` runs it.
func wanted(t *testing.T) {
	t.Helper()
	if !openstack.Wanted() {
		t.Skipf("a real OpenStack needs Debian's packages and a minute: `make test-openstack` runs it (%s=1)", openstack.WantedVariable)
	}
}

// member gives a new project and its member's view of the network.
func member(t *testing.T, quota openstack.Quota) (*openstack.Project, *gophercloud.ServiceClient) {
	t.Helper()
	wanted(t)
	p, err := lab.NewProject(t.Context(), "facts", quota)
	must(t, err)
	client, err := p.Client(t.Context(), lab.Identity())
	must(t, err)
	return p, client
}

// contextOf gives a context that outlives the test, for what it cleans up.
func contextOf(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// get unwraps a result that may have failed.
func get[T any](t *testing.T) func(*T, error) *T {
	return func(v *T, err error) *T {
		t.Helper()
		must(t, err)
		return v
	}
}

// refusal is how an API refuses: the status and the type that Neutron gives, "200"
// for no error.
func refusal(err error) string {
	if err == nil {
		return "done"
	}
	var unexpected gophercloud.ErrUnexpectedResponseCode
	if !errors.As(err, &unexpected) {
		return err.Error()
	}
	var body struct{ NeutronError struct{ Type string } }
	if json.Unmarshal(unexpected.Body, &body) != nil || body.NeutronError.Type == "" {
		return fmt.Sprint(unexpected.Actual)
	}
	return fmt.Sprintf("%d %s", unexpected.Actual, body.NeutronError.Type)
}
