//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"homeward/agent/returnpath"
	"homeward/netplan"
)

// runStatus is `homeward-agent status`: ready is 0, not ready 1, no agent to ask
// 4.
func runStatus(ctx context.Context, args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("status", flag.ContinueOnError)
	listen := f.String("listen", "127.0.0.1:"+strconv.Itoa(netplan.AgentPort), "`ADDRESS` that the agent serves at")
	output := f.String("output", "text", "`FORMAT`: text or json")
	f.StringVar(output, "o", "text", "`FORMAT`: short for --output")
	if code, done := parse(f, args, out, errs); done {
		return code
	}
	var c checker
	c.oneOf("output", *output, "text", "json")
	addresses := c.listen(*listen)
	if len(addresses) != 1 && len(c.faults) == 0 {
		c.fault("listen", "give the one address to ask")
	}
	if c.report("status", errs) {
		return exitUsage
	}
	body, s, err := fetchState(ctx, "http://"+addresses[0].String()+"/state")
	if err != nil {
		fmt.Fprintf(errs, "homeward-agent status: %v\n", noAgent(err, addresses[0]))
		return exitUnknown
	}
	if *output == "json" {
		_, err = out.Write(body)
	} else {
		err = printStatus(out, s)
	}
	switch {
	case err != nil:
		fmt.Fprintf(errs, "homeward-agent status: %v\n", err)
		return exitFailed
	case !s.Ready:
		return exitFailed
	}
	return exitDone
}

// noAgent says of a connection that was not made where an agent would be.
func noAgent(err error, address netip.AddrPort) error {
	const remedy = "agents answer on their own node only: see there whether the static pod runs " +
		"(kubectl -n kube-system get pod " + netplan.PodName + "-NODE) and what it logs, ask inside it " +
		"(kubectl -n kube-system exec " + netplan.PodName + "-NODE -- /homeward-agent status), or name the address of its --listen"
	var dial *net.OpError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no agent listens at %s\n  remedy: %s", address, remedy)
	case errors.As(err, &dial), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no agent answers at %s: %w\n  remedy: %s", address, err, remedy)
	}
	return err
}

// fetchState asks a running agent.
func fetchState(ctx context.Context, url string) (body []byte, s returnpath.Status, err error) {
	const most = 1 << 20
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, s, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, s, fmt.Errorf("asking the agent: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, s, fmt.Errorf("asking the agent: %s", response.Status)
	}
	if body, err = io.ReadAll(io.LimitReader(response.Body, most)); err != nil {
		return nil, s, fmt.Errorf("reading the agent's state: %w", err)
	}
	if err := json.Unmarshal(body, &s); err != nil {
		return nil, s, fmt.Errorf("reading the agent's state: %w", err)
	}
	return body, s, nil
}

// printReadiness says ready or not, and every problem with its remedy.
func printReadiness(w io.Writer, s returnpath.Status) {
	if s.Ready {
		fmt.Fprintln(w, "ready")
	} else {
		fmt.Fprintln(w, "not ready")
	}
	for _, p := range s.Problems {
		head := "note"
		if p.Blocking {
			head = "problem"
		}
		fmt.Fprintf(w, "%s (%s): %s\n", head, p.Kind, p.Text)
		if p.Remedy != "" {
			fmt.Fprintf(w, "  remedy: %s\n", p.Remedy)
		}
	}
}

// routesOwner is the value of --routes that settings were made of.
func routesOwner(s returnpath.SettingsStatus) string {
	if s.Managed {
		return routesManage
	}
	return routesCheck
}

// printSettings prints what an agent was told, for comparing nodes.
func printSettings(w io.Writer, s returnpath.Status) {
	routes := routesOwner(s.Settings)
	if s.Settings.PreferMain {
		routes += ", main table first"
	}
	resync := time.Duration(s.ResyncSeconds * float64(time.Second))
	fmt.Fprintf(w, "settings      digest %s, routes %s, resync %s\n", s.Settings.Digest, routes, resync)
}

// printStatus prints a status for a person.
func printStatus(w io.Writer, s returnpath.Status) error {
	var b strings.Builder
	printReadiness(&b, s)
	if l := s.Uplink; l != nil {
		fmt.Fprintf(&b, "external NIC  %s (index %d, %s)\n", l.Name, l.Index, l.MAC)
	}
	switch g := s.Gateway; {
	case g.Known && g.Reachable:
		fmt.Fprintf(&b, "gateway       answers from %s\n", g.MAC)
	case g.Known:
		fmt.Fprintln(&b, "gateway       does not answer")
	}
	printSettings(&b, s)
	fmt.Fprintf(&b, "marked        %d packets, %d bytes\n", s.Counters.Marked.Packets, s.Counters.Marked.Bytes)
	fmt.Fprintf(&b, "sent home     %d packets forwarded, %d of this node's own\n", s.Counters.Forwarded.Packets, s.Counters.Local.Packets)
	fmt.Fprintf(&b, "passes        %d, %d failed, last one %.1f ms at %s\n", s.Passes, s.FailedPasses, s.LastPassMillis, s.LastPass.Format(time.RFC3339))
	for _, kind := range returnpath.RepairKinds() {
		if n := s.Repairs[kind]; n > 0 {
			fmt.Fprintf(&b, "repaired      %s %d times\n", kind, n)
		}
	}
	for _, step := range s.LastSteps {
		fmt.Fprintf(&b, "last change   %s\n", step)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
