package report_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"homeward/cmd/homeward/internal/report"
	"homeward/netplan/load"
)

// follow makes the edits that a report advises in the text of the plan, as an
// operator would, and loads it.
func follow(t *testing.T, edits []string, r report.Report) report.Facts {
	t.Helper()
	text := basePlan
	for i := 0; i+1 < len(edits); i += 2 {
		text = strings.ReplaceAll(text, edits[i], edits[i+1])
	}
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, i := range r.Improvements {
		for _, e := range i.Edits {
			set(doc, strings.Split(e.Path, "."), e.Value)
			n++
		}
	}
	if n == 0 {
		t.Fatalf("nothing is advised: %+v", r.Improvements)
	}
	out, err := yaml.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	result, err := load.Bytes("cluster.yaml", out)
	if err != nil {
		t.Fatalf("the advice does not load: %v\n%s", err, out)
	}
	none := report.Source{State: report.SourceNotRead}
	return report.Facts{Spec: result.Spec, Plan: result.Plan, Proxmox: none, Kubernetes: none}
}

func set(doc map[string]any, path []string, value string) {
	if len(path) > 1 {
		inner, ok := doc[path[0]].(map[string]any)
		if !ok {
			inner = map[string]any{}
			doc[path[0]] = inner
		}
		set(inner, path[1:], value)
		return
	}
	if value == "" {
		delete(doc, path[0])
		return
	}
	doc[path[0]] = value
	if n, err := strconv.Atoi(value); err == nil {
		doc[path[0]] = n
	} else if b, err := strconv.ParseBool(value); err == nil {
		doc[path[0]] = b
	}
}

// What a report advises is a valid plan, and that plan survives what the first did not.
func TestAdviceResolvesAndHelps(t *testing.T) {
	tests := []struct {
		name     string
		edits    []string
		question report.Question
		advised  string
	}{
		{"two control planes on one of three hosts", []string{"edge-controlplane-02: {node: pve2}", "edge-controlplane-02: {node: pve1}"}, report.AnyHost, "Move edge-controlplane-02 from pve1 to pve2"},
		{"three control planes on two hosts", []string{"node: pve3", "node: pve2"}, report.AnyHost, "to new-host-1"},
		{"all on one host", []string{"node: pve2", "node: pve1", "node: pve3", "node: pve1"}, report.AnyHost, "Move edge-worker-03 from pve1"},
		{"one control plane", []string{"controlplane: {count: 3}", "controlplane: {count: 1}", "  edge-controlplane-02: {node: pve2}\n", "", "  edge-controlplane-03: {node: pve3}\n", ""}, report.AnyControlPlane, "Run 3 control planes instead of 1"},
		{"two control planes", []string{"controlplane: {count: 3}", "controlplane: {count: 2}", "  edge-controlplane-03: {node: pve3}\n", ""}, report.AnyHost, "Create edge-controlplane-03 on pve3"},
		{"one worker", []string{"worker: {count: 3}", "worker: {count: 1}", "  edge-worker-02: {node: pve2}\n", "", "  edge-worker-03: {node: pve3}\n", ""}, report.AnyWorker, "Let 2 machines of the pool worker announce"},
		{"an endpoint at a machine", []string{"      kubeapi_vip: 203.0.113.79\n", "", "edge-controlplane-01: {node: pve1}", "edge-controlplane-01: {node: pve1, address: 10.0.0.254}", "name: edge", "name: edge\nkubeapi_endpoint: 10.0.0.254", "cluster: {bridge: vmbr1}", "cluster: {bridge: vmbr1, gateway: 10.0.0.1}"}, report.AnyControlPlane, "10.0.0.253"},
		{"workers without the external NIC", []string{"worker: {count: 3}", "worker: {count: 3, external: false}"}, report.AnyWorker, "Let 3 machines"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := report.Make(factsOf(t, test.edits...))
			if got := answer(t, r, test.question); got.Worst() != report.Lost || !strings.HasPrefix(got.Text, "No: the loss of ") {
				t.Fatalf("it survives already: %+v", got)
			}
			text := fmt.Sprintf("%+v", r.Improvements)
			if !strings.Contains(text, test.advised) {
				t.Errorf("it advises %s\nwant %q", text, test.advised)
			}
			then := report.Make(follow(t, test.edits, r))
			if got := answer(t, then, test.question); got.Worst() != report.Moves {
				t.Errorf("with the advice: %+v", got)
			}
			if after := answer(t, then, test.question).Text; !strings.Contains(r.After, after) {
				t.Errorf("it promises %q, and the plan gives %q", r.After, after)
			}
		})
	}
}

func TestNoAdviceWhereNoneIsNeeded(t *testing.T) {
	r := report.Make(factsOf(t))
	for _, i := range r.Improvements {
		if len(i.Edits) > 0 {
			t.Errorf("it advises %+v", i)
		}
	}
	if r.After != "" {
		t.Errorf("it promises %q", r.After)
	}
}

func TestAdviceThatThePlanRefusesSaysWhy(t *testing.T) {
	r := report.Make(factsOf(t, "169.254.32.0/20", "169.254.32.0/30", "controlplane: {count: 3}", "controlplane: {count: 2}", "worker: {count: 3}", "worker: {count: 1, external: false}",
		"  edge-controlplane-03: {node: pve3}\n", "", "  edge-worker-02: {node: pve2}\n", "", "  edge-worker-03: {node: pve3}\n", ""))
	for _, i := range r.Improvements {
		if strings.HasPrefix(i.Change, "Run 3 control planes") {
			if len(i.Edits) != 0 || !strings.Contains(i.Why, "anchor_cidr") {
				t.Errorf("it says %+v", i)
			}
			return
		}
	}
	t.Errorf("it says nothing of a third control plane: %+v", r.Improvements)
}

// The order is that of `printf NODE#ADDRESS | sha256sum`.
func TestElectionIsMetalLBs(t *testing.T) {
	r := report.Make(factsOf(t))
	want := map[string]string{
		"203.0.113.75": "edge-worker-01 edge-worker-03 edge-worker-02",
		"203.0.113.76": "edge-worker-02 edge-worker-03 edge-worker-01",
	}
	for _, a := range r.Announcements {
		if w := want[a.Address]; w != "" && strings.Join(a.Order, " ") != w {
			t.Errorf("%s: %q, want %q", a.Address, a.Order, w)
		}
	}
	if len(r.Announcements) != 4 {
		t.Errorf("%d announcements", len(r.Announcements))
	}
}
