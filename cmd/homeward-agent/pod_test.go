//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"homeward/netplan"
	"homeward/talosgen"
	"homeward/testenv/netlab"
)

// The kinds of static pod: with an image for the agent, and without.
const (
	agentImage = "registry.example.edu/homeward-agent:v1"
	nftPod     = ""
)

// podCommands are all that the kube-proxy image has, besides iptables and kmod.
var podCommands = []string{"dash", "cat", "chmod", "grep", "ln", "rm", "sleep", "wc", "nft"}

// pod is the container of a generated static pod, running on the lab's first node.
type pod struct {
	b         *bench
	container corev1.Container
	grace     time.Duration
	env       []string
	log       syncBuffer
	end       func()
}

// plan is the lab's own network as a cluster, whose first control plane is the
// lab's first node.
func (b *bench) plan(image string) (*netplan.Plan, netplan.Machine) {
	b.t.Helper()
	a, mac := b.Addresses, netplan.MAC(b.node.ExternalMAC)
	p, faults := netplan.Resolve(netplan.Spec{
		Name: "lab", Talos: netplan.TalosSpec{Version: "v1.13.9"}, Kubernetes: netplan.KubernetesSpec{Version: "v1.36.3"},
		ControlPlanes: new(1),
		Machines: []netplan.MachineSpec{{
			Name: "lab-controlplane-01", ExternalMAC: mac, Address: b.node.PrivateAddress, Anchor: b.node.ExternalAddress.Addr(),
		}},
		DNS:     []netip.Addr{a.PrivateGateway},
		Proxmox: &netplan.ProxmoxSpec{URL: "https://pve.example.edu:8006"},
		Cluster: netplan.LinkSpec{Bridge: "vmbr1", CIDR: a.Private, Gateway: a.PrivateGateway},
		External: &netplan.ExternalSpec{
			LinkSpec:   netplan.LinkSpec{Bridge: "vmbr0", VLAN: new(1691), CIDR: a.External, Gateway: a.ExternalGateway, KubeAPIVIP: a.VIP},
			AnchorCIDR: netip.MustParsePrefix("169.254.33.0/24"),
			Pool:       netplan.AddressSet{{First: a.Pool[0], Last: a.Pool[len(a.Pool)-1]}},
		},
		Agent: netplan.AgentSpec{Image: image},
	})
	if len(faults) > 0 {
		b.t.Fatalf("the lab's plan is refused: %v", faults)
	}
	for _, m := range p.Machines {
		if m.MACs.External == mac {
			return p, m
		}
	}
	b.t.Fatalf("no machine has the lab's MAC %s", mac)
	return nil, netplan.Machine{}
}

// startPod runs the container of the generated pod as the kubelet would: its own
// command and arguments, as process 1, with nothing in its PATH but what its image
// has. The image's /homeward-agent is this program.
func (b *bench) startPod(image string) *pod {
	b.t.Helper()
	object, err := talosgen.StaticPod(b.plan(image))
	b.do(err)
	var typed corev1.Pod
	b.do(runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, &typed, true))
	c := &pod{
		b: b, container: typed.Spec.Containers[0], env: []string{"PATH=" + imageOf(b), envProgram + "=1"},
		grace: time.Duration(*typed.Spec.TerminationGracePeriodSeconds) * time.Second,
	}
	cmd := c.command(context.Background(), append(c.container.Command, c.container.Args...))
	cmd.Stdout, cmd.Stderr = &c.log, &c.log
	cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWPID
	b.do(cmd.Start())
	c.end = sync.OnceFunc(func() {
		kill := time.AfterFunc(c.grace, func() { _ = cmd.Process.Kill() })
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			b.t.Errorf("on SIGTERM: %v", err)
		}
		kill.Stop()
	})
	b.t.Cleanup(func() {
		c.end()
		if b.t.Failed() {
			b.t.Logf("the pod's log:\n%s", &c.log)
		}
	})
	return c
}

// imageOf is a directory with the commands of the kube-proxy image.
func imageOf(b *bench) string {
	b.t.Helper()
	dir := b.t.TempDir()
	for _, name := range podCommands {
		target, err := exec.LookPath(name)
		b.do(err)
		b.do(os.Symlink(target, filepath.Join(dir, name)))
	}
	return dir
}

// command is a program of the container, on the node.
func (c *pod) command(ctx context.Context, argv []string) *netlab.Cmd {
	program := argv[0]
	if program == "/homeward-agent" {
		self, err := os.Executable()
		c.b.do(err)
		program = self
	}
	cmd := c.b.node.Command(ctx, program, argv[1:]...)
	cmd.Env = c.env
	return cmd
}

// probe does what a probe says once, by the kubelet's rules.
func (c *pod) probe(p *corev1.Probe) error {
	timeout := time.Duration(p.TimeoutSeconds) * time.Second
	if p.Exec != nil {
		// The container's process may be slow to start on an emulated processor.
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		out, err := c.command(ctx, p.Exec.Command).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	get := p.HTTPGet
	client := &http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true, DialContext: c.b.node.Dial}}
	url := strings.ToLower(string(get.Scheme)) + "://" + net.JoinHostPort(get.Host, strconv.Itoa(get.Port.IntValue())) + get.Path
	r, err := client.Get(url)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode < http.StatusOK || r.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s: %s", url, r.Status)
	}
	return nil
}

// awaitReady waits for the pod's readiness probe, asking more often than the
// kubelet.
func (c *pod) awaitReady() {
	c.b.t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = c.probe(c.container.ReadinessProbe); err == nil {
			return
		}
	}
	c.b.t.Fatalf("never ready: %v\n%s", err, &c.log)
}

// says waits until the pod's log has the text.
func (c *pod) says(text string) {
	c.b.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if strings.Contains(c.log.String(), text) {
			return
		}
	}
	c.b.t.Fatalf("the pod never says %q:\n%s", text, &c.log)
}

func TestTheGeneratedPodBringsRepliesHome(t *testing.T) {
	for name, image := range map[string]string{"agent": agentImage, "nft": nftPod} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.do(b.node.Steer()) // which Talos does, of the same patch
			c := b.startPod(image)
			c.awaitReady()
			b.allHome()
			if live := c.container.LivenessProbe; live != nil {
				b.do(c.probe(live))
			}
		})
	}
}
