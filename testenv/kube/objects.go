//go:build linux

package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// applyObjects gives Kubernetes MetalLB's resource definitions, the product's own
// files as they are, and the matrix's Services.
func (l *Lab) applyObjects(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	if _, err := l.Kubectl(ctx, nil, "apply", "--server-side", "-f", l.set.CRDs); err != nil {
		return err
	}
	if _, err := l.Kubectl(ctx, nil, "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"); err != nil {
		return err
	}
	// For the backends that are processes of a node's own network.
	if _, err := l.Kubectl(ctx, nil, "label", "namespace", "default", "pod-security.kubernetes.io/enforce=privileged"); err != nil {
		return err
	}
	for _, name := range []string{"metallb.yaml", "traefik.yaml"} {
		if err := l.ApplyGenerated(ctx, name); err != nil {
			return err
		}
	}
	var text strings.Builder
	for _, s := range l.Services() {
		text.WriteString(s.Manifest())
	}
	if err := l.Apply(ctx, text.String()); err != nil {
		return err
	}
	if err := l.metallbAccounts(ctx); err != nil {
		return err
	}
	return l.standInPods(ctx)
}

// ApplyGenerated applies one of the files that the product generated.
func (l *Lab) ApplyGenerated(ctx context.Context, name string) error {
	text, err := l.Product.File(AgentPod, "kubernetes", name)
	if err != nil {
		return err
	}
	_, err = l.Kubectl(ctx, text, "apply", "-f", "-")
	return err
}

// Apply applies objects.
func (l *Lab) Apply(ctx context.Context, text string) error {
	_, err := l.Kubectl(ctx, []byte(text), "apply", "-f", "-")
	return err
}

// Delete deletes an object of namespace default.
func (l *Lab) Delete(ctx context.Context, kind, name string) error {
	_, err := l.Kubectl(ctx, nil, "delete", kind, name)
	return err
}

// WaitPods waits until a pod of this name runs and is ready on every machine.
func (l *Lab) WaitPods(ctx context.Context, namespace, name string) error {
	return WaitFor(ctx, "pods "+name, func(ctx context.Context) error {
		for _, m := range l.Machines {
			out, err := l.Kubectl(ctx, nil, "-n", namespace, "get", "pod", name+"-"+m.Name, "-o",
				`jsonpath={.status.phase} {.status.conditions[?(@.type=="Ready")].status} {.status.containerStatuses[*].state}`)
			if err != nil {
				return err
			}
			if !strings.HasPrefix(string(out), "Running True") {
				return fmt.Errorf("%s on %s: %s", name, m.Name, out)
			}
		}
		return nil
	})
}

// WaitAddress waits until MetalLB has given a Service an address, and gives it.
func (l *Lab) WaitAddress(ctx context.Context, namespace, name string) (netip.Addr, error) {
	var address netip.Addr
	err := WaitFor(ctx, "the address of service "+name, func(ctx context.Context) (err error) {
		out, err := l.Kubectl(ctx, nil, "-n", namespace, "get", "service", name, "-o", "json")
		if err != nil {
			return err
		}
		var service struct {
			Status struct {
				LoadBalancer struct {
					Ingress []struct{ IP netip.Addr }
				}
			}
		}
		if err := json.Unmarshal(out, &service); err != nil {
			return err
		}
		ingress := service.Status.LoadBalancer.Ingress
		if len(ingress) == 0 {
			return fmt.Errorf("none yet")
		}
		address = ingress[0].IP
		return nil
	})
	return address, err
}
