package gitops_test

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"homeward/netplan"
	"homeward/talosgen/gitops"
)

// decodeAll decodes every document into the API's own type for its kind; unknown
// and repeated keys are errors.
func decodeAll(t *testing.T, text []byte) []metav1.Object {
	t.Helper()
	types := map[metav1.TypeMeta]func() metav1.Object{
		{APIVersion: "v1", Kind: "Namespace"}:                      func() metav1.Object { return &corev1.Namespace{} },
		{APIVersion: "v1", Kind: "Service"}:                        func() metav1.Object { return &corev1.Service{} },
		{APIVersion: "networking.k8s.io/v1", Kind: "IngressClass"}: func() metav1.Object { return &networkingv1.IngressClass{} },
		{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"}:      func() metav1.Object { return &networkingv1.Ingress{} },
	}
	var out []metav1.Object
	for _, doc := range bytes.Split(text, []byte("---\n")) {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(doc, &kind); err != nil {
			t.Fatalf("decoding %s: %v", doc, err)
		}
		newObject, ok := types[kind]
		if !ok {
			t.Fatalf("unexpected kind %+v", kind)
		}
		object := newObject()
		if err := yaml.UnmarshalStrict(doc, object); err != nil {
			t.Fatalf("decoding strictly: %v\n%s", err, doc)
		}
		out = append(out, object)
	}
	return out
}

func TestTraefikObjectsAreTheAPIs(t *testing.T) {
	for name, p := range plans(t) {
		t.Run(name, func(t *testing.T) {
			text, err := gitops.Traefik(p)
			if err != nil {
				t.Fatal(err)
			}
			namespaces := map[string]bool{}
			classes := map[string]bool{}
			for _, object := range decodeAll(t, text) {
				// An object is refused when its Namespace or class comes after it.
				if ns := object.GetNamespace(); ns != "" && !namespaces[ns] {
					t.Errorf("%s comes before its Namespace %s", object.GetName(), ns)
				}
				switch o := object.(type) {
				case *corev1.Namespace:
					namespaces[o.Name] = true
				case *networkingv1.IngressClass:
					classes[o.Name] = true
					if o.Spec.Controller != "traefik.io/ingress-controller" {
						t.Errorf("controller %q is not Traefik's", o.Spec.Controller)
					}
				case *networkingv1.Ingress:
					if class := o.Spec.IngressClassName; class == nil || !classes[*class] || *class != p.Ingress.Class {
						t.Errorf("Ingress has class %v, want %s, after its IngressClass", class, p.Ingress.Class)
					}
				case *corev1.Service:
					checkService(t, o)
				}
			}
		})
	}
}

// checkService holds what the API server checks beyond the types.
func checkService(t *testing.T, svc *corev1.Service) {
	t.Helper()
	if svc.Spec.Type != corev1.ServiceTypeLoadBalancer {
		t.Errorf("type %s has no external address", svc.Spec.Type)
	}
	switch svc.Spec.ExternalTrafficPolicy {
	case corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal:
	default:
		t.Errorf("externalTrafficPolicy %q is not one of the API's", svc.Spec.ExternalTrafficPolicy)
	}
	names, ports := map[string]bool{}, map[int32]bool{}
	for _, port := range svc.Spec.Ports {
		if port.Name == "" || names[port.Name] || ports[port.Port] || port.TargetPort.String() == "0" {
			t.Errorf("port %+v is unnamed, repeated or without target", port)
		}
		names[port.Name], ports[port.Port] = true, true
	}
}

func TestPin(t *testing.T) {
	address := netip.MustParseAddr("203.0.113.75")
	tests := []struct {
		name           string
		address        netip.Addr
		pin            string
		wantIP         string
		wantAnnotation map[string]string
	}{
		{name: "no address leaves the choice to MetalLB", pin: netplan.PinLoadBalancerIP},
		{name: "no address, annotation", pin: netplan.PinAnnotation},
		{name: "loadBalancerIP", address: address, pin: netplan.PinLoadBalancerIP, wantIP: "203.0.113.75"},
		{name: "annotation", address: address, pin: netplan.PinAnnotation,
			wantAnnotation: map[string]string{"metallb.io/loadBalancerIPs": "203.0.113.75"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := seedPlan(t)
			p.Ingress.Address, p.Ingress.Pin = tt.address, tt.pin
			text, err := gitops.Traefik(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range decodeAll(t, text) {
				svc, ok := object.(*corev1.Service)
				if !ok {
					continue
				}
				if svc.Spec.LoadBalancerIP != tt.wantIP {
					t.Errorf("loadBalancerIP %q, want %q", svc.Spec.LoadBalancerIP, tt.wantIP)
				}
				if diff := cmp.Diff(tt.wantAnnotation, svc.Annotations); diff != "" {
					t.Errorf("annotations (-want +got):\n%s", diff)
				}
			}
		})
	}
}
