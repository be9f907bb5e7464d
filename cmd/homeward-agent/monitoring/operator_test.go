package monitoring

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"homeward/netplan"
)

// object is an object of the Prometheus operator.
type object[S any] struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       S        `json:"spec"`
}

type metadata struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
}

// podMonitor is what we use of the operator's PodMonitorSpec.
type podMonitor struct {
	JobLabel          string `json:"jobLabel"`
	NamespaceSelector struct {
		MatchNames []string `json:"matchNames"`
	} `json:"namespaceSelector"`
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	Endpoints []struct {
		Port          string `json:"port"`
		Path          string `json:"path"`
		Interval      string `json:"interval"`
		ScrapeTimeout string `json:"scrapeTimeout"`
		Relabelings   []struct {
			SourceLabels []string `json:"sourceLabels"`
			TargetLabel  string   `json:"targetLabel"`
		} `json:"relabelings"`
	} `json:"podMetricsEndpoints"`
}

func readPodMonitor(t *testing.T) (m object[podMonitor]) {
	t.Helper()
	readYAML(t, "podmonitor.yaml", &m)
	if len(m.Spec.Endpoints) != 1 {
		t.Fatalf("%d endpoints, want one", len(m.Spec.Endpoints))
	}
	return m
}

// targetLabels are those that an agent's series have beside their own: what the
// operator gives every target of a PodMonitor, and ours. The operator's
// endpoint is left out because scrape.yaml does not give it.
func targetLabels(t *testing.T) []string {
	t.Helper()
	out := []string{"job", "instance", "namespace", "pod", "container"}
	for _, r := range readPodMonitor(t).Spec.Endpoints[0].Relabelings {
		out = append(out, r.TargetLabel)
	}
	slices.Sort(out)
	return out
}

// generatedPod is the static pod that talosgen makes of a plan with
// agent.metrics: private; a test there holds the file.
func generatedPod(t *testing.T) (pod corev1.Pod) {
	t.Helper()
	readYAML(t, "../../../talosgen/testdata/pod/agent-metrics-private.yaml", &pod)
	return pod
}

func TestPodMonitorFindsTheGeneratedPod(t *testing.T) {
	m, pod := readPodMonitor(t), generatedPod(t)
	if m.APIVersion != "monitoring.coreos.com/v1" || m.Kind != "PodMonitor" {
		t.Errorf("is a %s %s", m.APIVersion, m.Kind)
	}
	if names := m.Spec.NamespaceSelector.MatchNames; !slices.Contains(names, pod.Namespace) || m.Metadata.Namespace != pod.Namespace {
		t.Errorf("looks from %s into %v, the pod is in %s", m.Metadata.Namespace, names, pod.Namespace)
	}
	for label, value := range m.Spec.Selector.MatchLabels {
		if pod.Labels[label] != value {
			t.Errorf("asks for %s=%s, the pod has %q", label, value, pod.Labels[label])
		}
	}
	if len(m.Spec.Selector.MatchLabels) == 0 {
		t.Error("selects every pod")
	}
	if job := pod.Labels[m.Spec.JobLabel]; job != netplan.PodName {
		t.Errorf("the job is %q, the alerts expect %q", job, netplan.PodName)
	}
	hasPort := func(p corev1.ContainerPort) bool {
		return p.Name == m.Spec.Endpoints[0].Port && p.ContainerPort == netplan.AgentPort
	}
	if !slices.ContainsFunc(pod.Spec.Containers[0].Ports, hasPort) {
		t.Errorf("the pod has no port %s", m.Spec.Endpoints[0].Port)
	}
}

// TestPrometheusRuleHoldsTheAlerts holds that the operator's object is the rule
// file, indented, and nothing else.
func TestPrometheusRuleHoldsTheAlerts(t *testing.T) {
	const file = "prometheusrule.yaml"
	_, groups, found := strings.Cut(string(read(t, alertsFile)), "\ngroups:\n")
	if !found {
		t.Fatal("alerts.yaml has no groups")
	}
	want := `# alerts.yaml for the Prometheus operator, made by "go test -update". Give it the
# labels that your Prometheus selects rules by (its ruleSelector).
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: homeward-return-path
  namespace: kube-system
  labels:
    app.kubernetes.io/name: homeward-return-path
    app.kubernetes.io/part-of: homeward
spec:
  groups:
`
	for line := range strings.Lines(groups) {
		if line != "\n" {
			line = "  " + line
		}
		want += line
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, string(read(t, file))); diff != "" {
		t.Errorf("not made of alerts.yaml, run with -update (-want +got):\n%s", diff)
	}
	var made object[ruleFile]
	readYAML(t, file, &made)
	var alerts ruleFile
	readYAML(t, alertsFile, &alerts)
	if diff := cmp.Diff(alerts, made.Spec); diff != "" {
		t.Errorf("groups (-alerts.yaml +%s):\n%s", file, diff)
	}
}

// scrapeConfig is what we use of a scrape configuration.
type scrapeConfig struct {
	Job        string `json:"job_name"`
	Path       string `json:"metrics_path"`
	Interval   string `json:"scrape_interval"`
	Timeout    string `json:"scrape_timeout"`
	Kubernetes []struct {
		Role       string `json:"role"`
		Namespaces struct {
			Names []string `json:"names"`
		} `json:"namespaces"`
	} `json:"kubernetes_sd_configs,omitempty"`
	Relabel []struct {
		Source []string `json:"source_labels"`
		Target string   `json:"target_label,omitempty"`
		Regex  string   `json:"regex,omitempty"`
		Action string   `json:"action,omitempty"`
	} `json:"relabel_configs"`
}

type scrapeFile struct {
	Configs []scrapeConfig `json:"scrape_configs"`
}

func readScrape(t *testing.T) scrapeConfig {
	t.Helper()
	var f scrapeFile
	readYAML(t, "scrape.yaml", &f)
	if len(f.Configs) != 1 || len(f.Configs[0].Kubernetes) != 1 {
		t.Fatalf("want one configuration with one discovery: %+v", f)
	}
	return f.Configs[0]
}

func TestScrapeFindsWhatThePodMonitorFinds(t *testing.T) {
	c, m, pod := readScrape(t), readPodMonitor(t), generatedPod(t)
	e := m.Spec.Endpoints[0]
	want := []string{pod.Labels[m.Spec.JobLabel], e.Path, e.Interval, e.ScrapeTimeout, "pod"}
	got := []string{c.Job, c.Path, c.Interval, c.Timeout, c.Kubernetes[0].Role}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the PodMonitor's and this one's (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(m.Spec.NamespaceSelector.MatchNames, c.Kubernetes[0].Namespaces.Names); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
	targets, kept := []string{"job", "instance"}, ""
	for _, r := range c.Relabel {
		if r.Action == "keep" {
			kept = strings.Join(r.Source, ";") + " is " + r.Regex
			continue
		}
		targets = append(targets, r.Target)
	}
	slices.Sort(targets)
	if diff := cmp.Diff(targetLabels(t), targets); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	const meta = "__meta_kubernetes_pod_"
	if w := meta + "label_app_kubernetes_io_name;" + meta + "container_port_name is " + pod.Labels["app.kubernetes.io/name"] + ";" + e.Port; kept != w {
		t.Errorf("keeps where %s, want %s", kept, w)
	}
}

// withoutDiscovery is scrape.yaml for a promtool that was built without
// Kubernetes discovery, as Debian's is.
func withoutDiscovery(t *testing.T) []byte {
	t.Helper()
	c := readScrape(t)
	c.Kubernetes = nil
	text, err := yaml.Marshal(scrapeFile{Configs: []scrapeConfig{c}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
