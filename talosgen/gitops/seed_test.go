package gitops_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/talosgen/gitops"
)

// The documents of the load-balancing page, to the byte.
const (
	seedPool = `apiVersion: metallb.io/v1beta1
kind: IPAddressPool
metadata:
  name: ingress
  namespace: metallb-system
spec:
  addresses:
    - 203.0.113.75-203.0.113.78
---
apiVersion: metallb.io/v1beta1
kind: L2Advertisement
metadata:
  name: ingress
  namespace: metallb-system
spec:
  ipAddressPools:
    - ingress
`
	seedService = `apiVersion: v1
kind: Service
metadata:
  name: traefik
  namespace: ingress
spec:
  type: LoadBalancer
  loadBalancerIP: 203.0.113.75
  selector:
    app.kubernetes.io/name: traefik
  ports:
    - name: http
      port: 80
      targetPort: http
    - name: https
      port: 443
      targetPort: https
`
	seedIngress = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: app
  namespace: app
spec:
  ingressClassName: traefik
  rules:
    - host: app.example.edu
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: app
                port:
                  number: 80
`
	seedValues = `metallb:
  enabled: true
  addresses:
    - 203.0.113.75-203.0.113.78
ingresscontroller:
  enabled: true
  class: traefik
  publicIP: ""     # no single VIP on Proxmox
  privateIP: ""
`
)

func TestSeedPlanGivesTheSeedsDocuments(t *testing.T) {
	p := seedPlan(t)
	p.Ingress.Address = netip.MustParseAddr("203.0.113.75")

	t.Run("MetalLB", func(t *testing.T) {
		got, err := gitops.MetalLB(p)
		if err != nil {
			t.Fatal(err)
		}
		_, objects, _ := strings.Cut(string(got), "---\n")
		if diff := cmp.Diff(seedPool, objects); diff != "" {
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
		if diff := cmp.Diff(seedService, service); diff != "" {
			t.Errorf("Service (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(seedIngress, docs[len(docs)-1]); diff != "" {
			t.Errorf("Ingress (-want +got):\n%s", diff)
		}
	})
	t.Run("Argo CD", func(t *testing.T) {
		got, err := gitops.ArgoCD(p)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(seedValues, string(got)); diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
	})
}

func TestSamePlanSameBytes(t *testing.T) {
	first, second := plans(t)["some-without-external"], plans(t)["some-without-external"]
	for range 20 {
		a, _ := gitops.MetalLB(first)
		b, _ := gitops.MetalLB(second)
		if diff := cmp.Diff(string(a), string(b)); diff != "" {
			t.Fatalf("two renderings differ:\n%s", diff)
		}
	}
}

func TestGoldens(t *testing.T) {
	for name, p := range plans(t) {
		t.Run(name, func(t *testing.T) {
			metallb, err := gitops.MetalLB(p)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.ServicePool()) == 0 {
				if metallb != nil {
					t.Errorf("without a pool there is nothing for MetalLB, got:\n%s", metallb)
				}
			} else {
				golden(t, name+".metallb.yaml", metallb)
			}
			traefik, err := gitops.Traefik(p)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".traefik.yaml", traefik)
			values, err := gitops.ArgoCD(p)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".argocd.yaml", values)
		})
	}
}
