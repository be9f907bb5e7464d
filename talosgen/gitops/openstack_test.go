package gitops_test

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
	"homeward/talosgen/gitops"
)

// cloudPlan is the OpenStack plan of the load-balancing page, before anything is
// allocated.
func cloudPlan(t *testing.T) *netplan.Plan {
	t.Helper()
	p, faults := netplan.Resolve(netplan.Spec{
		Name:          "edge",
		Talos:         netplan.TalosSpec{Version: "v1.13.9"},
		ControlPlanes: new(3),
		Workers:       []netplan.PoolSpec{{Name: "worker", Count: new(3)}},
		OpenStack:     &netplan.OpenStackSpec{ExternalNet: "public"},
		Cluster:       netplan.LinkSpec{CIDR: netip.MustParsePrefix("192.0.2.0/24")},
	})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return p
}

// allocated completes it with the addresses of the page.
func allocated(t *testing.T, p *netplan.Plan) *netplan.Plan {
	t.Helper()
	done, err := p.Allocated(netplan.Allocation{
		Cluster: "edge", Owner: "4f1d0c77a2b95e63",
		KubeAPI: netplan.AllocatedAddress{Fixed: netip.MustParseAddr("192.0.2.5"), Floating: netip.MustParseAddr("203.0.113.81")},
		Ingress: netplan.AllocatedAddress{Fixed: netip.MustParseAddr("192.0.2.10"), Floating: netip.MustParseAddr("203.0.113.80")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// page gives a document of the load-balancing page, as it stands there.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "page", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The page's own documents for OpenStack, to the byte.
func TestCloudPlanGivesThePagesDocuments(t *testing.T) {
	p := allocated(t, cloudPlan(t))
	t.Run("Argo CD", func(t *testing.T) {
		got, err := gitops.ArgoCD(p)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(page(t, "openstack.values.yaml"), string(got)); diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
	})
	t.Run("MetalLB", func(t *testing.T) {
		got, err := gitops.MetalLB(p)
		if err != nil {
			t.Fatal(err)
		}
		_, objects, _ := strings.Cut(string(got), "---\n")
		if diff := cmp.Diff(page(t, "openstack.metallb.yaml"), objects); diff != "" {
			t.Errorf("pool and announcement (-want +got):\n%s", diff)
		}
	})
	t.Run("Traefik", func(t *testing.T) {
		got, err := gitops.Traefik(p)
		if err != nil {
			t.Fatal(err)
		}
		docs := strings.Split(string(got), "---\n")
		service := strings.Replace(docs[2], "  externalTrafficPolicy: Cluster\n", "", 1)
		if service == docs[2] {
			t.Error("the Service has no externalTrafficPolicy")
		}
		if diff := cmp.Diff(page(t, "openstack.traefik.yaml"), service+"---\n"+docs[len(docs)-1]); diff != "" {
			t.Errorf("Service and Ingress (-want +got):\n%s", diff)
		}
	})
}

func TestCloudChoices(t *testing.T) {
	t.Run("MetalLB switched off", func(t *testing.T) {
		p := allocated(t, cloudPlan(t))
		p.ArgoCD.MetalLBEnabled = false
		got, err := gitops.ArgoCD(p)
		if err != nil {
			t.Fatal(err)
		}
		if want := "metallb:\n  enabled: false\n  addresses: []\n"; !strings.HasPrefix(string(got), want) || !strings.Contains(string(got), `publicIP: "203.0.113.80"`) {
			t.Errorf("values are\n%s", got)
		}
	})
	t.Run("pinned by annotation", func(t *testing.T) {
		p := allocated(t, cloudPlan(t))
		p.Ingress.Pin = netplan.PinAnnotation
		got, err := gitops.Traefik(p)
		if err != nil || !strings.Contains(string(got), "metallb.io/loadBalancerIPs: 192.0.2.10\n") {
			t.Errorf("got %v\n%s", err, got)
		}
	})
}

// Without addresses there is nothing to write, and no file with empty ones.
func TestCloudWithoutAddresses(t *testing.T) {
	p := cloudPlan(t)
	for name, render := range map[string]func(*netplan.Plan) ([]byte, error){"MetalLB": gitops.MetalLB, "Traefik": gitops.Traefik, "Argo CD": gitops.ArgoCD} {
		if got, err := render(p); !errors.Is(err, netplan.ErrUnallocated) || got != nil || !strings.Contains(err.Error(), "ingress.fixed") {
			t.Errorf("%s: got %v\n%s", name, err, got)
		}
	}
}
