package pvefs

import (
	"testing/fstest"
)

// files makes a tree of names and texts.
func files(list map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range list {
		out[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o640}
	}
	return out
}

// host is a node of a cluster of three, with something of everything that is
// read, and beside it what must not be.
func host() Host {
	return Host{Node: "pve1", Network: files(networkFiles), Cluster: files(clusterFiles)}
}

var networkFiles = map[string]string{
	"interfaces": `# network interface settings
auto lo
iface lo inet loopback

iface eno1 inet manual

auto bond0
iface bond0 inet manual
	bond-slaves eno2 eno3
	bond-mode 802.3ad

auto vmbr0
iface vmbr0 inet static
	address 192.0.2.11/24
	gateway 192.0.2.1
	bridge-ports eno1
	bridge-vlan-aware yes
	bridge-vids 2-100 \
		1691
	mtu 9000
iface vmbr0 inet6 static
	address 2001:db8::11/64

auto vmbr0.1691
iface vmbr0.1691 inet static
	address 203.0.113.11
	netmask 255.255.255.128

iface vmbr9 inet manual
	bridge_ports none

auto vlan30
iface vlan30 inet dhcp
	vlan-raw-device bond0

auto office
iface office inet manual
	vlan-raw-device bond0
	vlan-id 40

auto vmbr2
allow-ovs vmbr2
iface vmbr2 inet manual
	ovs_type OVSBridge
	ovs_ports eno4 mgmt

auto mgmt
iface mgmt inet static
	address 198.51.100.11/24
	ovs_type OVSIntPort
	ovs_bridge vmbr2
	ovs_options tag=50 other=1

iface wrong inet static
	address 203.0.113.300/25

source /etc/network/interfaces.d/*
source /srv/more
`,
	"interfaces.d/sdn": "auto v1691\niface v1691\n\tbridge_ports vmbr0.1691\n\tbridge_stp off\n\talias external\n",
}

var clusterFiles = map[string]string{
	"nodes/pve1/qemu-server/113.conf": `#a note: net9: virtio=BC:24:11:00:00:99,bridge=vmbr0
agent: 1
boot: order=scsi0
ipconfig1: ip=203.0.113.75/25,gw=203.0.113.1
name: db1
net0: virtio=BC:24:11:00:00:12,bridge=vmbr1
net1: virtio=BC:24:11:00:00:13,bridge=vmbr0,tag=1691
sshkeys: ssh-ed25519%20AAAA
tags: prod

[PENDING]
delete: net0,!ipconfig2
net1: virtio=BC:24:11:00:00:13,bridge=vmbr0,tag=30

[before-upgrade]
name: older
net1: virtio=BC:24:11:00:00:13,bridge=vmbr9

[special:cloudinit]
ipconfig1: ip=203.0.113.74/25
`,
	"nodes/pve1/qemu-server/900.conf": "name: golden\nnet0: virtio=BC:24:11:00:00:90,bridge=vmbr0\ntemplate: 1\n",
	"nodes/pve2/lxc/120.conf": `arch: amd64
hostname: dns
net0: name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:20,ip=dhcp,tag=1691,type=veth
lxc.apparmor.profile: unconfined
[pve:pending]
net0: name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:20,ip=203.0.113.78/25,tag=1691,type=veth
`,
	"nodes/pve2/qemu-server/114.conf":      "name: odd\nnet0 virtio=BC:24:11:00:00:14,bridge=vmbr0\nthis is no option\n",
	"nodes/pve2/qemu-server/114.conf.tmp":  "name: leftover\n",
	"nodes/pve2/qemu-server/099.conf":      "name: no VMID\n",
	"nodes/pve3/lxc/readme.conf":           "hostname: no VMID\n",
	"nodes/pve1/priv/secret":               "not to be read",
	".rrd":                                 "pve2-node/pve1:1:2\npve2.3-vm/113:4711:db1:running:0:1\npve-vm-9.0/120:9:dns:running:0\npve2.3-vm/114:0:odd:stopped:0:1\npve2.3-vm/900:55:golden:stopped:1:1\n",
	"firewall/cluster.fw":                  "[OPTIONS]\n\nenable: 1\n\n[ALIASES]\n\ningress-vip 203.0.113.75 # the shop\ncampus 203.0.112.0/20\nsix 2001:db8::1\nbroken\n\n[IPSET Web] # all of them\n\n203.0.113.78 # blog\n!203.0.113.77\ndc/campus\n\n[RULES]\n\nIN ACCEPT -source 203.0.113.79\n",
	"firewall/113.fw":                      "[OPTIONS]\nenable: 1\n[IPSET ipfilter-net1]\n203.0.113.75\n[ALIASES]\nself 203.0.113.75\n",
	"firewall/777.fw":                      "[IPSET ipfilter-net0]\n203.0.113.75\n",
	"sdn/zones.cfg":                        "vlan: zv\n\tbridge vmbr0\n\tdhcp dnsmasq\n\tipam pve\n\tnodes pve1,pve2\n\nvlan: znb\n\tbridge vmbr1\n\tipam nb\n\n",
	"sdn/vnets.cfg":                        "vnet: v1691\n\tzone zv\n\talias the outside\n\ttag 1691\n\nvnet: vnew\n\tzone zv\n\ttag 31\n\n",
	"sdn/subnets.cfg":                      "subnet: zv-203.0.113.0-25\n\tvnet v1691\n\tdhcp-range start-address=203.0.113.100,end-address=203.0.113.110\n\tdhcp-range start-address=203.0.113.120,end-address=203.0.113.121\n\tgateway 203.0.113.1\n\nsubnet: zv-2001:db8::-64\n\tvnet v1691\n\n",
	"sdn/ipams.cfg":                        "pve: pve\n\nnetbox: nb\n\turl https://netbox.example.edu\n\ttoken 0123456789abcdef\n\n",
	"sdn/.running-config":                  `{"version":7,"zones":{"ids":{"zv":{"type":"vlan","bridge":"vmbr0","dhcp":"dnsmasq","ipam":"pve","nodes":{"pve1":1,"pve2":1}}}},"vnets":{"ids":{"v1691":{"type":"vnet","zone":"zv","tag":1691,"alias":"the outside"},"vgone":{"type":"vnet","zone":"zv","tag":"32"}}},"subnets":{"ids":{"zv-203.0.113.0-25":{"type":"subnet","vnet":"v1691","gateway":"203.0.113.1","dhcp-range":["start-address=203.0.113.100,end-address=203.0.113.110"]}}},"controllers":{"ids":{}}}`,
	"sdn/pve-ipam-state.json":              `{"zones":{"zv":{"subnets":{"203.0.113.0/25":{"ips":{"203.0.113.1":{"gateway":1},"203.0.113.100":{"hostname":"db1","mac":"BC:24:11:00:00:13","vmid":"113"},"203.0.113.101":{"vmid":114,"mac":"nonsense"}}}}}}}`,
	"priv/ipam.db":                         `{"zones":{"zv":{"subnets":{"203.0.113.0/25":{"ips":{"203.0.113.9":{}}}}}}}`,
	"nodes/pve1/qemu-server/115.conf/file": "a directory where a file should be",
}
