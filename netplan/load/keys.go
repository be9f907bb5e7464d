package load

import "homeward/netplan"

// kind is what stands behind a key.
type kind int

const (
	section          kind = iota // a map of known keys, or with a "*" child a map of the operator's own names
	text                         // a string
	boolean                      // true or false
	verify                       // true, false or a file's path
	number                       // a whole decimal number
	mark                         // a 32-bit mark, decimal or 0x-hexadecimal
	mask                         // the same as a mask
	addr                         // an IPv4 address
	cidr                         // an IPv4 network
	mac                          // an EUI-48 address
	addrs                        // an address or a list of them
	ranges                       // an address, "a-b" or CIDR, or a list of them
	sources                      // an address or CIDR, or a list of them
	texts                        // a string or a list of them
	foreign                      // known, but only of use to other tools
	credential                   // belongs elsewhere; its value is never looked at
	tokenID                      // an API token's name, never repeated: it may be the secret
	tokenSecret                  // its secret
	credentialID                 // the id of an application credential, never repeated either
	credentialSecret             // its secret
)

// key is one known key of cluster.yaml.
type key struct {
	// path is canonical, the documentation's layout; "*" is a name of the
	// operator's. also is a second place where the key is accepted.
	path, also string
	kind       kind
	doc        string
	// def and example are YAML text. An example that is an active line of the
	// commented file has shown set.
	def, example string
	shown        bool
	enum         []string
	// min and max of a number, for editors; netplan has the last word.
	min, max int
	// strict sections refuse unknown keys, and so do sections in them.
	strict bool
	// bare sections may have nothing behind the colon.
	bare     bool
	required bool
	// only is the one provider with which the key has a meaning, empty for each.
	// What stands in a section has it from there.
	only netplan.Provider
	// common keys have a name that other tools use too, elsewhere in the file.
	common bool
	// cloud is what differs on OpenStack.
	cloud onCloud
	// blames are paths whose faults may follow from a wrong value here; ".*" at
	// the end stands for each name there, but not for what is below it.
	blames []string
}

// onCloud is what the commented file says of a key where the provider is OpenStack.
type onCloud struct {
	// doc and example take the place of the key's.
	doc, example string
	// lines are the first ones of the section, active, without their indent.
	lines []string
}

// keys is everything Homeward knows in a cluster.yaml, in the order of the
// commented file.
var keys = []key{
	{path: "name", kind: text, shown: true, required: true, example: "edge", doc: "The cluster's name. Hostnames follow: NAME-controlplane-01, NAME-POOL-01."},

	{path: "talos", shown: true, doc: "The operating system."},
	{path: "talos.version", kind: text, shown: true, example: "v1.13.9", doc: "Talos's version, v1.13.1 or later."},
	{path: "talos.firewall", kind: boolean, def: "false", doc: "Also render Talos's own ingress firewall from security."},

	{path: "kubernetes", shown: true, bare: true, doc: "The cluster."},
	{path: "kubernetes.version", kind: text, shown: true, example: "v1.36.3", doc: "Kubernetes's version."},
	{path: "kubernetes.pod_cidr", kind: cidr, def: "10.244.0.0/16", doc: "The pods' network."},
	{path: "kubernetes.service_cidr", kind: cidr, def: "10.96.0.0/12", doc: "The Services' network."},
	{path: "kubernetes.cni", kind: text, def: "flannel", enum: []string{"flannel", "calico", "cilium", "none"}, doc: "The network plugin: flannel, calico, cilium or none."},
	{path: "kubernetes.kube_proxy_replacement", kind: boolean, def: "false", doc: "Cilium, or Calico with eBPF, replaces kube-proxy. Its path bypasses connection marks."},
	{path: "kubernetes.csi", kind: foreign, doc: "The storage driver, for other tools."},
	{path: "kubernetes.cri", kind: foreign, doc: "The container runtime, for other tools."},

	{path: "controlplane", shown: true, required: true, doc: "The control planes.", blames: []string{"machines.*"}},
	{path: "controlplane.count", kind: number, min: 1, max: netplan.MaxMachines, shown: true, example: "3", doc: "How many; odd, 3 or 5 to survive a loss.", blames: []string{"machines.*"}},
	{path: "controlplane.external", kind: boolean, def: "true", doc: "Whether the control planes have the external NIC.", only: netplan.Proxmox},

	{path: "workers", shown: true, bare: true, doc: "The pools of workers, by name.", blames: []string{"machines.*"}},
	{path: "workers.*", shown: true, example: "worker", doc: "One pool of equal workers.", blames: []string{"machines.*"}},
	{path: "workers.*.count", kind: number, max: netplan.MaxMachines, shown: true, example: "3", doc: "How many.", blames: []string{"machines.*"}},
	{path: "workers.*.external", kind: boolean, def: "true", doc: "Whether the pool's machines have the external NIC.", only: netplan.Proxmox},

	{path: "machines", strict: true, bare: true, doc: "What cannot be derived of single machines, by hostname."},
	{path: "machines.*", example: "edge-worker-01", doc: "One machine."},
	{path: "machines.*.vmid", kind: number, min: 100, max: 999999999, example: "201", doc: "The guest's number in Proxmox.", only: netplan.Proxmox},
	{path: "machines.*.node", kind: text, example: "pve1", doc: "The Proxmox host it runs on.", only: netplan.Proxmox},
	{path: "machines.*.macs", doc: "The addresses of its two NICs, instead of the derived ones.", cloud: onCloud{doc: "The address of its NIC, instead of the derived one."}},
	{path: "machines.*.macs.cluster", kind: mac, example: `"bc:24:11:00:00:01"`, doc: "The private NIC's.", cloud: onCloud{doc: "Its port's.", example: `"fa:16:3e:00:00:01"`}},
	{path: "machines.*.macs.external", kind: mac, example: `"bc:24:11:00:00:02"`, doc: "The external NIC's.", only: netplan.Proxmox},
	{path: "machines.*.address", kind: addr, example: "10.0.0.61", doc: "A static private address, instead of DHCP.", cloud: onCloud{doc: "The fixed IP of its port, where Neutron is not to choose it."}},
	{path: "machines.*.external_address", kind: addr, example: "203.0.113.61", doc: "A real address of its own on the external link.", only: netplan.Proxmox},
	{path: "machines.*.anchor", kind: addr, example: "169.254.32.9", doc: "Its link-local address on the external link.", only: netplan.Proxmox},

	{path: "network", strict: true, shown: true, required: true, doc: "The private network, the one with the default route.", cloud: onCloud{doc: "The tenant network, which is made for the cluster."}},
	{path: "network.cidr", also: "network.cluster.cidr", kind: cidr, shown: true, example: "10.0.0.0/24", doc: "The private network."},
	{path: "network.dns", kind: addrs, shown: true, example: "[10.0.0.1]", doc: "Its resolvers.", cloud: onCloud{example: "[198.51.100.53]"}},
	{path: "network.ntp", kind: foreign, doc: "Time servers, for other tools."},
	{path: "network.cluster", doc: "Other place for the keys of proxmox.network.cluster, except bridge and vnet."},
	{path: "network.external", doc: "Other place for the keys of proxmox.network.external, except bridge and vnet.", only: netplan.Proxmox},

	{path: "proxmox", shown: true, doc: "The hypervisor.", only: netplan.Proxmox},
	{path: "proxmox.url", kind: text, shown: true, example: "https://pve.example.edu:8006", doc: "Its API. Credentials belong in secrets.yaml or the environment."},
	{path: "proxmox.tls_verify", kind: verify, def: "true", doc: "true, the path of a CA file, or false (warned of each time)."},
	{path: "proxmox.fingerprint", kind: text, example: `"` + exampleFingerprint + `"`, doc: "The SHA-256 of the API's certificate, to pin it."},
	{path: "proxmox.token_id", kind: credential, doc: "Belongs in secrets.yaml."},
	{path: "proxmox.token_secret", kind: credential, doc: "Belongs in secrets.yaml."},
	{path: "proxmox.username", kind: credential, doc: "Not used; an API token belongs in secrets.yaml."},
	{path: "proxmox.password", kind: credential, doc: "Not used; an API token belongs in secrets.yaml."},
	{path: "proxmox.network", strict: true, shown: true, doc: "The two links of every machine."},
	{path: "proxmox.network.cluster", shown: true, doc: "The private link."},
	{path: "proxmox.network.cluster.bridge", kind: text, shown: true, example: "vmbr1", doc: "The bridge it is on."},
	{path: "proxmox.network.cluster.vnet", kind: text, example: "private", doc: "The SDN VNet it is on, instead of a bridge.", blames: []string{"proxmox.network.cluster.bridge"}},
	{path: "proxmox.network.cluster.vlan", also: "network.cluster.vlan", kind: number, min: 1, max: 4094, example: "100", doc: "Its VLAN; untagged without.", blames: []string{"proxmox.network.external"}, only: netplan.Proxmox},
	{path: "proxmox.network.cluster.mtu", also: "network.cluster.mtu", kind: number, min: 1280, max: 9216, def: "1500", doc: "Its MTU in bytes.", only: netplan.Proxmox},
	{path: "proxmox.network.cluster.gateway", also: "network.cluster.gateway", kind: addr, example: "10.0.0.1", doc: "Its default gateway, for machines with a static address.", only: netplan.Proxmox},
	{path: "proxmox.network.cluster.kubeapi_vip", also: "network.cluster.kubeapi_vip", kind: addr, example: "10.0.0.10", doc: "The Kubernetes API's address, where it is private.", blames: []string{"proxmox.network.external.kubeapi_vip"}, only: netplan.Proxmox},
	{path: "proxmox.network.external", shown: true, doc: "The link that carries the ingress addresses."},
	{path: "proxmox.network.external.bridge", kind: text, shown: true, example: "vmbr0", doc: "The bridge it is on."},
	{path: "proxmox.network.external.vnet", kind: text, example: "public", doc: "The SDN VNet it is on, instead of a bridge.", blames: []string{"proxmox.network.external.bridge"}},
	{path: "proxmox.network.external.vlan", also: "network.external.vlan", kind: number, min: 1, max: 4094, shown: true, example: "1691", doc: "Its VLAN; untagged without.", blames: []string{"proxmox.network.external"}},
	{path: "proxmox.network.external.mtu", also: "network.external.mtu", kind: number, min: 1280, max: 9216, def: "1500", doc: "Its MTU in bytes."},
	{path: "proxmox.network.external.cidr", also: "network.external.cidr", kind: cidr, shown: true, example: "203.0.113.0/25", doc: "The network as its router has it."},
	{path: "proxmox.network.external.gateway", also: "network.external.gateway", kind: addr, shown: true, example: "203.0.113.1", doc: "Its router."},
	{path: "proxmox.network.external.gateway_onlink", also: "network.external.gateway_onlink", kind: boolean, def: "false", doc: "Allow a gateway outside cidr.", blames: []string{"proxmox.network.external.gateway"}},
	{path: "proxmox.network.external.anchor_cidr", also: "network.external.anchor_cidr", kind: cidr, shown: true, example: "169.254.32.0/20", doc: "Link-local addresses, one for each machine's external NIC."},
	{path: "proxmox.network.external.kubeapi_vip", also: "network.external.kubeapi_vip", kind: addr, shown: true, example: "203.0.113.79", doc: "The Kubernetes API's address."},
	{path: "proxmox.network.external.ingress_pool", also: "network.external.ingress_pool", kind: ranges, shown: true, example: "203.0.113.75-203.0.113.78", doc: "What MetalLB may hand out: an address, a range, a network, or a list of these."},
	{path: "proxmox.network.external.dhcp_ranges", also: "network.external.dhcp_ranges", kind: ranges, example: "[203.0.113.100-203.0.113.120]", doc: "What a DHCP server hands out there."},
	{path: "proxmox.network.external.reserved", also: "network.external.reserved", kind: ranges, example: "[203.0.113.2]", doc: "Other hosts' addresses there."},

	{path: "openstack", strict: true, shown: true, doc: "The cloud, instead of proxmox.", only: netplan.OpenStack, blames: []string{"proxmox"}},
	{path: "openstack.url", kind: text, shown: true, example: "https://openstack.example.edu:5000/v3", doc: "Keystone. Credentials belong in secrets.yaml or the environment; without this, clouds.yaml or OS_AUTH_URL says where it is."},
	{path: "openstack.external_net", kind: text, shown: true, required: true, example: "public", doc: "The network that floating IPs come from, by name or id."},
	{path: "openstack.region", kind: text, example: "RegionOne", doc: "Its region; the cloud's only one without."},
	{path: "openstack.availability_zone", kind: text, example: "nova", doc: "Where router and network are made; the cloud chooses without.", common: true},
	{path: "openstack.kubeapi_address", kind: addr, example: "10.0.0.5", doc: "The Kubernetes API's fixed IP, in network.cidr; Neutron chooses without."},
	{path: "openstack.kubeapi_floating_ip", kind: addr, example: "203.0.113.81", doc: "A floating IP for it that the project has already; one is allocated without."},
	{path: "openstack.ingress_address", kind: addr, example: "10.0.0.10", doc: "The ingress's fixed IP, in network.cidr; Neutron chooses without."},
	{path: "openstack.ingress_floating_ip", kind: addr, example: "203.0.113.80", doc: "A floating IP for it that the project has already; one is allocated without."},
	{path: "openstack.credential_id", kind: credential, doc: "Belongs in secrets.yaml."},
	{path: "openstack.credential_secret", kind: credential, doc: "Belongs in secrets.yaml."},
	{path: "openstack.application_credential_id", kind: credential, doc: "Belongs in secrets.yaml."},
	{path: "openstack.application_credential_secret", kind: credential, doc: "Belongs in secrets.yaml."},
	{path: "openstack.username", kind: credential, doc: "Belongs in clouds.yaml; better is an application credential in secrets.yaml."},
	{path: "openstack.password", kind: credential, doc: "Belongs in clouds.yaml; better is an application credential in secrets.yaml."},

	{path: "security", strict: true, bare: true, doc: "Allowlists. 80 and 443 are open to all unless named (http, https).", cloud: onCloud{
		doc:   "Allowlists of the security group. 80 and 443 are open to all unless named (http, https), 6443 and 50000 only to those who are named (kubernetes, talos).",
		lines: []string{"kubernetes: {office: 198.51.100.0/24}", "talos: {office: 198.51.100.0/24}"},
	}},
	{path: "security.*", example: "metrics", doc: "Who may reach kubernetes, talos, http or https; any other name needs port and hosts."},
	{path: "security.*.*", kind: sources, doc: "An address, a network, or a list of these."},
	{path: "security.*.port", kind: number, min: 1, max: 65535, example: "9100", doc: "The TCP port."},
	{path: "security.*.hosts", doc: "The hosts, by a name for each."},
	{path: "security.*.hosts.*", kind: sources, example: "office: 198.51.100.0/24", doc: "An address, a network, or a list of these."},

	{path: "ingress", strict: true, bare: true, doc: "The LoadBalancer Service of the ingress controller."},
	{path: "ingress.class", kind: text, def: "traefik", doc: "Its ingress class."},
	{path: "ingress.address", kind: addr, example: "203.0.113.75", doc: "Its address, out of the pool; MetalLB chooses without.", only: netplan.Proxmox},
	{path: "ingress.pin", kind: text, def: "loadBalancerIP", enum: []string{"loadBalancerIP", "annotation"}, doc: "How the Service asks for it: loadBalancerIP or annotation."},
	{path: "ingress.external_traffic_policy", kind: text, def: "Cluster", enum: []string{"Cluster", "Local"}, doc: "Cluster, or Local to keep the client's address."},
	{path: "ingress.interface", kind: text, example: "ens19", doc: "The kernel's name of the external NIC, for MetalLB to announce on that only.", only: netplan.Proxmox},

	{path: "argocd", bare: true, doc: "The values for the infrastructure chart."},
	{path: "argocd.metallb", bare: true, doc: "MetalLB."},
	{path: "argocd.metallb.enabled", kind: boolean, def: "true", doc: "Install MetalLB."},
	{path: "argocd.ingress", bare: true, doc: "The ingress controller."},
	{path: "argocd.ingress.enabled", kind: boolean, def: "true", doc: "Install the ingress controller."},
	{path: "argocd.ingress.class", kind: text, def: "traefik", doc: "Its ingress class."},

	{path: "agent", strict: true, bare: true, doc: "The static pod's program.", only: netplan.Proxmox},
	{path: "agent.image", kind: text, example: "registry.example.edu/homeward-agent:v1", doc: "The agent's image. Without, the pod runs nft from the kube-proxy image.", blames: []string{"agent.metrics", "kubernetes.version"}},
	{path: "agent.metrics", kind: text, def: "loopback", enum: []string{"loopback", "private"}, doc: "Where it serves metrics: loopback, or private for the node's private address."},

	{path: "kubeapi_endpoint", kind: text, example: "api.example.edu", doc: "The Kubernetes API's name or address, instead of a kubeapi_vip or as its name.", blames: []string{"proxmox.network.external.kubeapi_vip"}, cloud: onCloud{doc: "The Kubernetes API's name, where clients use one instead of its floating IP."}},
	{path: "kubeapi_sans", kind: texts, example: "[api.example.edu]", doc: "More names and addresses for the API's certificate."},

	{path: "return_path", strict: true, bare: true, doc: "The numbers of the return path, where the defaults collide.", only: netplan.Proxmox},
	{path: "return_path.mark", kind: mark, def: "0x2000", doc: "The connection mark, one bit."},
	{path: "return_path.mask", kind: mask, def: "0x2000", doc: "Its mask."},
	{path: "return_path.table", kind: number, min: 1, max: 252, def: "251", doc: "The routing table."},
	{path: "return_path.priority", kind: number, min: 101, max: 32000, def: "1000", doc: "The first rule's priority."},
	{path: "return_path.force", kind: boolean, def: "false", doc: "Accept a data path that is known to bypass connection marks.", blames: []string{"kubernetes.kube_proxy_replacement"}},
}

// exampleFingerprint has the right length and belongs to nobody.
const exampleFingerprint = "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF"
