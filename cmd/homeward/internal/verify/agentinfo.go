package verify

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"homeward/netplan"
)

const (
	agentTimeout = 2 * time.Second
	// enoughSilent agents and none that answered: this machine is not in their network.
	enoughSilent = 5
	mostMetrics  = 4 << 20 // bytes
)

// readAgents asks the agents for their version, where the plan has them serve metrics
// on the private network. From outside that network none answers, which is no fault.
func readAgents(ctx context.Context, o Options, s *Snapshot) {
	if p := s.Plan; p.ReturnPath == nil || p.ReturnPath.Pod != netplan.PodAgent || p.Agent.Metrics != netplan.MetricsPrivate {
		return
	}
	client := &http.Client{Timeout: min(agentTimeout, o.Timeout), CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}, Transport: &http.Transport{DisableKeepAlives: true}}
	var mu sync.Mutex
	silent, nodes := 0, s.nodes()
	each(knockers, s.Plan.Machines, func(m netplan.Machine) {
		address := privateAddress(s.Plan, m, nodes[m.Name])
		mu.Lock()
		hopeless := silent >= enoughSilent && len(s.Agents) == 0
		mu.Unlock()
		if !s.Plan.MarksConnections(m) || !address.IsValid() || hopeless {
			return
		}
		info, err := askAgent(ctx, client, address)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			silent++
			return
		}
		s.Agents[m.Name] = info
	})
}

// privateAddress is a machine's in the private network: the plan's, or its node's,
// which may be nil.
func privateAddress(p *netplan.Plan, m netplan.Machine, node *corev1.Node) netip.Addr {
	if m.Address.IsValid() {
		return m.Address
	}
	if node != nil {
		for _, a := range internalIPs(*node) {
			if p.Cluster.CIDR.Contains(a) {
				return a
			}
		}
	}
	return netip.Addr{}
}

func askAgent(ctx context.Context, client *http.Client, address netip.Addr) (AgentInfo, error) {
	url := "http://" + net.JoinHostPort(address.String(), strconv.Itoa(netplan.AgentPort)) + "/metrics"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return AgentInfo{}, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return AgentInfo{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return AgentInfo{}, fmt.Errorf("asking the agent at %s: it says %s", address, resp.Status)
	}
	return parseMetrics(resp.Body)
}

var buildInfo = regexp.MustCompile(`^homeward_build_info\{(?:[^}]*,)?version="([^"\\]{1,100})"`)

// parseMetrics reads an agent's metrics. The error says that they are none.
func parseMetrics(r io.Reader) (AgentInfo, error) {
	lines := bufio.NewScanner(io.LimitReader(r, mostMetrics))
	for lines.Scan() {
		if m := buildInfo.FindStringSubmatch(lines.Text()); m != nil {
			return AgentInfo{Version: m[1]}, nil
		}
	}
	return AgentInfo{}, errors.Join(errors.New("no homeward_build_info in the metrics"), lines.Err())
}
