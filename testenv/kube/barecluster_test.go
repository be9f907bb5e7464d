//go:build linux

package kube_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"homeward/testenv/kube"
	"homeward/testenv/kube/parts"
)

// bare is a control plane on loopback alone: etcd, an API server and the controllers
// that make pods and EndpointSlices. There is no node; the test says what kubelets
// and the scheduler would.
type bare struct {
	t          *testing.T
	set        *parts.Set
	dir, logs  string
	repository string
	server     string
	// running has a channel by part that is closed when it has ended.
	running map[string]chan struct{}
	// addresses counts those that were given to pods.
	addresses int
}

// The tokens of the two who ask: one may everything, the other little.
const (
	adminToken  = "report-admin"
	viewerToken = "report-viewer"
)

func newBare(t *testing.T) *bare {
	t.Helper()
	wanted(t)
	set, err := parts.Ensure(t.Context(), os.Stderr)
	must(t, err)
	repository, err := filepath.Abs(filepath.Join("..", ".."))
	must(t, err)
	b := &bare{t: t, set: set, running: map[string]chan struct{}{}, dir: t.TempDir(), repository: repository, logs: filepath.Join(repository, "out", "e2e", "report-logs")}
	must(t, os.RemoveAll(b.logs))
	must(t, os.MkdirAll(b.logs, 0o755))
	b.writeKeys()
	etcd, peer := "http://"+freeAddress(t), "http://"+freeAddress(t)
	api := freeAddress(t)
	_, port, err := net.SplitHostPort(api)
	must(t, err)
	b.server = "https://" + api
	b.start("etcd", nil, "--name=bare", "--data-dir="+filepath.Join(b.dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls="+etcd, "--advertise-client-urls="+etcd,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=bare="+peer)
	b.start("kube-apiserver", nil, "--etcd-servers="+etcd, "--bind-address=127.0.0.1", "--secure-port="+port, "--cert-dir="+b.dir,
		// There is no route by which it could find an address to advertise.
		"--advertise-address=192.0.2.1", "--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.96.0.0/16", "--service-account-issuer=https://lab.invalid",
		"--service-account-signing-key-file="+b.file("sa.key"), "--service-account-key-file="+b.file("sa.pub"),
		"--token-auth-file="+b.file("tokens.csv"), "--authorization-mode=RBAC", "--allow-privileged=true", "--profiling=false",
		// Nobody makes accounts, and nobody takes away a new node's taint.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition")
	for name, token := range map[string]string{"admin": adminToken, "viewer": viewerToken} {
		b.write(name+".kubeconfig", fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: bare,
clusters: [{name: bare, cluster: {server: %q, certificate-authority: %q}}],
users: [{name: me, user: {token: %s}}], contexts: [{name: bare, context: {cluster: bare, user: me}}]}`, b.server, b.file("apiserver.crt"), token))
	}
	b.await("the API server", func() error {
		_, err := b.try("", "get", "--raw", "/readyz")
		return err
	})
	b.start("kube-controller-manager", nil, "--kubeconfig="+b.file("admin.kubeconfig"), "--leader-elect=false", "--bind-address=127.0.0.1",
		"--controllers=deployment-controller,replicaset-controller,daemonset-controller,endpointslice-controller")
	return b
}

// file is one of the control plane's files.
func (b *bare) file(name string) string { return filepath.Join(b.dir, name) }

func (b *bare) write(name, text string) {
	b.t.Helper()
	must(b.t, os.WriteFile(b.file(name), []byte(text), 0o600))
}

// writeKeys writes what signs service accounts, and the tokens.
func (b *bare) writeKeys() {
	b.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(b.t, err)
	private, err := x509.MarshalECPrivateKey(key)
	must(b.t, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	must(b.t, err)
	b.write("sa.key", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})))
	b.write("sa.pub", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))
	b.write("tokens.csv", adminToken+",admin,admin,\"system:masters\"\n"+viewerToken+",viewer,viewer\n")
}

// freeAddress gives an address of loopback that nobody has at the moment.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// start runs one of the parts until the test ends. Its output is in a file of its own,
// whose end is shown when the test fails.
func (b *bare) start(name string, env []string, args ...string) {
	b.t.Helper()
	log, err := os.Create(filepath.Join(b.logs, name+".log"))
	must(b.t, err)
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, b.set.Program(name), args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, append(os.Environ(), env...)
	const grace = 10 * time.Second
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(unix.SIGTERM) }, grace
	must(b.t, cmd.Start())
	ended := make(chan struct{})
	b.running[name] = ended
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its log says why it ended
	}()
	b.t.Cleanup(func() {
		stop()
		<-ended
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && b.t.Failed() {
			b.t.Logf("the end of %s:\n%s", log.Name(), text[max(0, len(text)-1500):])
		}
	})
}

func (b *bare) await(what string, holds func() error) {
	b.t.Helper()
	must(b.t, kube.WaitFor(within(b.t, 2*time.Minute), what, func(context.Context) error {
		for name, ended := range b.running {
			select {
			case <-ended:
				b.t.Fatalf("%s has ended: see %s", name, b.logs)
			default:
			}
		}
		return holds()
	}))
}

// try runs kubectl as the administrator, with a standard input.
func (b *bare) try(input string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(b.t.Context(), b.set.Program("kubectl"),
		append([]string{"--kubeconfig", b.file("admin.kubeconfig"), "--cache-dir", b.file("cache")}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, &stderr)
	}
	return out, nil
}

// kubectl is try that must succeed.
func (b *bare) kubectl(input string, args ...string) []byte {
	b.t.Helper()
	out, err := b.try(input, args...)
	must(b.t, err)
	return out
}

// apply applies objects.
func (b *bare) apply(text string) {
	b.t.Helper()
	b.kubectl(text, "apply", "--server-side", "-f", "-")
}

// podObject is what is used of a pod.
type podObject struct {
	Metadata struct {
		Name, Namespace string
		Labels          map[string]string
	}
	Spec struct {
		NodeName string
		Affinity struct {
			NodeAffinity struct {
				Required struct {
					NodeSelectorTerms []struct {
						MatchFields []struct{ Values []string }
					}
				} `json:"requiredDuringSchedulingIgnoredDuringExecution"`
			}
		}
	}
}

// pods are those with these labels.
func (b *bare) pods(labels string) []podObject {
	b.t.Helper()
	var list struct{ Items []podObject }
	must(b.t, json.Unmarshal(b.kubectl("", "get", "pods", "--all-namespaces", "-l", labels, "-o", "json"), &list))
	return list.Items
}

// settle does what the scheduler and the kubelets would: it binds so many pods with
// these labels, a daemon's where it belongs, others in turn, and reports them ready,
// but for those on a node that is not.
func (b *bare) settle(labels string, count int, nodes ...string) []podObject {
	b.t.Helper()
	b.await(fmt.Sprintf("%d pods with %s", count, labels), func() error {
		if n := len(b.pods(labels)); n != count {
			return fmt.Errorf("there are %d", n)
		}
		return nil
	})
	pods := b.pods(labels)
	for i := range pods {
		p := &pods[i]
		if terms := p.Spec.Affinity.NodeAffinity.Required.NodeSelectorTerms; len(terms) > 0 {
			nodes = terms[0].MatchFields[0].Values
		}
		if p.Spec.NodeName == "" {
			p.Spec.NodeName = nodes[i%len(nodes)]
			b.kubectl(fmt.Sprintf(`{"apiVersion":"v1","kind":"Binding","metadata":{"name":%q},"target":{"kind":"Node","name":%q}}`, p.Metadata.Name, p.Spec.NodeName),
				"create", "--raw", "/api/v1/namespaces/"+p.Metadata.Namespace+"/pods/"+p.Metadata.Name+"/binding", "-f", "-")
		}
		b.setStatus(*p, p.Spec.NodeName != deadNode)
	}
	return pods
}

// setStatus gives a pod's status as its kubelet would.
func (b *bare) setStatus(p podObject, ready bool) {
	b.t.Helper()
	b.addresses++
	state := map[bool]string{true: "True", false: "False"}[ready]
	b.kubectl("", "-n", p.Metadata.Namespace, "patch", "pod", p.Metadata.Name, "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status":{"phase":"Running","podIP":"10.244.9.%[1]d","podIPs":[{"ip":"10.244.9.%[1]d"}],"conditions":[{"type":"Ready","status":%[2]q}]}}`, b.addresses, state))
}
