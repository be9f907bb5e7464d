// Package monitoring holds what stands beside the agent's metrics. It has no
// code: operators take the files, and the tests hold them against the agent.
//
//   - alerts.yaml: the alerts, as a Prometheus rule file;
//   - prometheusrule.yaml: the same groups for the Prometheus operator, made of
//     alerts.yaml by `go test -update`;
//   - podmonitor.yaml: how the operator finds the agents of a cluster whose plan
//     says agent.metrics: private;
//   - scrape.yaml: the same for a Prometheus without the operator;
//   - dashboard.json: for Grafana, to be imported; it asks for a data source;
//   - host-alerts.yaml, host-scrape.yaml, host-dashboard.json: the same for the agents
//     on Proxmox hosts, with the job homeward-host.
//
// Alerts and dashboard expect the labels that podmonitor.yaml and scrape.yaml
// both give: job ("homeward-return-path"), namespace, pod, container, node and
// instance. One Prometheus watches one cluster: nodes are told apart by name.
//
// testdata/series.txt lists every series that an agent serves, host_series.txt those
// of an agent on a Proxmox host. A test of the agent
// holds it against a real registry, and the tests here hold every name, label and
// label value of the files against it.
//
// HomewardSettingsDiffer compares the digests of homeward_settings_info, which leave
// out the one setting that is every node's own, the NIC's MAC. Nodes with the VIP and
// without are compared apart.
//
// HomewardAgentAbsent knows the nodes of the plan by their label
// node.homeward/external where kube-state-metrics runs with
// --metric-labels-allowlist=nodes=[node.homeward/external]; without, it knows
// those that had an agent within the last day.
package monitoring
