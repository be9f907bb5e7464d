//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"homeward/agent/returnpath"
	"homeward/netplan"
	"homeward/testenv/netlab"
)

// envProgram makes the test binary the agent itself, so that a test runs exactly
// this code as a process of its own.
const envProgram = "HOMEWARD_AGENT_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if rights := os.Getenv(envRights); rights != "" && os.Getenv(envProgram) != "" {
		if err := lessenRights(rights); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(exitFailed)
		}
	}
	if os.Getenv(envProgram) != "" {
		main()
		return
	}
	netlab.Main(m)
}

// patience is how long anything may take on a busy machine.
const patience = 30 * time.Second

// bench is a lab cluster whose first node announces the pool.
type bench struct {
	*netlab.Cluster
	t    *testing.T
	node *netlab.Node
	// drain is how late a reply may come and still count.
	drain time.Duration
}

func newBench(t *testing.T) *bench {
	t.Helper()
	netlab.Require(t)
	c, err := netlab.NewCluster(netlab.AnchorLayout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	b := &bench{Cluster: c, t: t, node: c.Nodes[0], drain: 2 * time.Second}
	b.do(c.Serve(c.MatrixServices(b.node)...))
	b.do(c.Announce(c.Addresses.Pool[0], b.node))
	return b
}

func (b *bench) do(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// flags are those of the generated pod for the first node, and more.
func (b *bench) flags(more ...string) []string {
	a := b.Addresses
	return append([]string{
		"--external-mac=" + b.node.ExternalMAC.String(),
		"--destinations=" + a.Pool[0].String() + "-" + a.Pool[len(a.Pool)-1].String() + "," + a.VIP.String() + "/32",
		"--cidr=" + a.External.String(), "--gateway=" + a.ExternalGateway.String(), "--vip=" + a.VIP.String(),
		"--mark=" + netplan.DefaultMark.String(), "--mask=" + netplan.DefaultMask.String(), "--table=251", "--priority=1001",
		"--listen=127.0.0.1:9465",
	}, more...)
}

// process is a running agent.
type process struct {
	b    *bench
	cmd  *netlab.Cmd
	log  syncBuffer
	port string
	once sync.Once
	exit error
}

// syncBuffer may be read while a process writes to it.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (b *bench) command(args ...string) *netlab.Cmd {
	b.t.Helper()
	self, err := os.Executable()
	b.do(err)
	cmd := b.node.Command(context.Background(), self, args...)
	cmd.Env = append(os.Environ(), envProgram+"=1")
	return cmd
}

// startNode starts `node` without waiting for anything.
func (b *bench) startNode(flags ...string) *process {
	b.t.Helper()
	p := &process{b: b, cmd: b.command(append([]string{"node"}, flags...)...), port: "9465"}
	for _, f := range flags {
		if rest, ok := strings.CutPrefix(f, "--listen=127.0.0.1:"); ok {
			p.port = rest
		}
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	b.do(p.cmd.Start())
	b.t.Cleanup(func() {
		p.end(os.Kill)
		if b.t.Failed() {
			b.t.Logf("agent's log:\n%s", &p.log)
		}
	})
	return p
}

// start starts `node` with --routes=manage and waits until it is ready and has
// asked the gateway.
func (b *bench) start(more ...string) *process {
	b.t.Helper()
	p := b.startNode(b.flags(append([]string{"--routes=manage"}, more...)...)...)
	p.await("ready", func(s returnpath.Status) bool { return s.Ready && s.Gateway.Known })
	return p
}

// end sends a signal and waits for the process to be gone.
func (p *process) end(sig os.Signal) error {
	p.once.Do(func() {
		_ = p.cmd.Process.Signal(sig)
		p.exit = p.cmd.Wait()
	})
	return p.exit
}

// get asks the agent from within the node.
func (p *process) get(path string) (code int, body string, err error) {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return p.b.node.Dial(ctx, network, address)
		},
	}}
	r, err := client.Get("http://127.0.0.1:" + p.port + path)
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return r.StatusCode, string(text), err
}

func (p *process) state() (s returnpath.Status, err error) {
	_, body, err := p.get("/state")
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal([]byte(body), &s)
}

// await waits until the agent's state is as told.
func (p *process) await(what string, ok func(returnpath.Status) bool) returnpath.Status {
	p.b.t.Helper()
	var s returnpath.Status
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if s, err = p.state(); err == nil && ok(s) {
			return s
		}
	}
	p.b.t.Fatalf("never %s: %+v, error %v\n%s", what, s, err, &p.log)
	return s
}

// kinds are the kinds of problems that stand.
func kinds(s returnpath.Status) []returnpath.ProblemKind {
	var out []returnpath.ProblemKind
	for _, p := range s.Problems {
		out = append(out, p.Kind)
	}
	return out
}

// allHome holds that every cell of the matrix is answered by the external NIC.
func (b *bench) allHome() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cells, err := b.Matrix(ctx, b.node)
	b.do(err)
	for _, c := range cells {
		if !c.Answered || c.Path != netlab.PathExternal {
			b.t.Errorf("%s: answered %v, replies left by %s", c, c.Answered, c.Path)
		}
	}
}

// leaks gives how many replies reached the private gateway since the call before.
func (b *bench) leaks() func() uint64 {
	b.t.Helper()
	before, err := b.Spoofed()
	b.do(err)
	return func() uint64 {
		after, err := b.Spoofed()
		b.do(err)
		return after - before
	}
}
