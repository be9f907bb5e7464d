package main

import (
	"strings"

	"homeward/testenv/pvesim"
)

// simulatorHelp says what `homeward lab proxmox` does.
const simulatorHelp = `Serve the API of a simulated Proxmox VE cluster over HTTPS until a signal: nodes
pve1, pve2 and pve3 with the VLAN-aware bridges vmbr0 and vmbr1, no guests, and one
API token that may do all. Requests are checked against the schema of Proxmox VE
9.2; what the simulator does not know it refuses with status 501 and a warning here.

Standard output gets shell lines that set what homeward reads:

  HOMEWARD_PROXMOX_URL           where it listens; overrides the plan's
  HOMEWARD_PROXMOX_TOKEN_ID      the token
  HOMEWARD_PROXMOX_TOKEN_SECRET
  HOMEWARD_PROXMOX_CA_FILE       the CA of its certificate, made anew at each start
  HOMEWARD_LAB_PROXMOX_PID       the process, for kill
  HOMEWARD_LAB_PROXMOX_URLS      all endpoints, when --listen was given more than once

After them standard output is closed, so that a shell's "$(... &)" returns as soon
as the simulator answers. --export writes the same lines to a file, which is there,
whole, once the simulator answers; both files go when it ends.

With --state everything outlives the process: the file is made when it does not
exist, and is written anew, whole, before each write is answered. Without it all is
forgotten. Each further --listen is the endpoint of the next node.

Guests are made, started, stopped and removed as in a real cluster: POST to
/nodes/NODE/qemu or lxc, POST to .../VMID/status/start or stop, DELETE of .../VMID.
The task is done when its name is answered.

`

// stateHelp describes the file of --state to who writes one by hand.
const stateHelp = `The file is JSON, and --example-state prints one to begin with. Its parts:

  kind      "homeward proxmox simulator state 1", always
  nodes     name to node: name, id, address, online, interfaces (bridges, VLANs)
  guests    number to guest: kind (qemu or lxc), vmid, node, running, agent, pool,
            config (the options as in the guest's file: net0, ipconfig0, ...) and
            live (what its interfaces say, for --live)
  pools     id to pool: comment
  tokens    id to token: id, secret, grants (path, a built-in role or privileges,
            propagate)
  firewall  the text of files: "cluster", "host/NODE", "guest/VMID"
  sdn       config and running (what was applied): zones, vnets, subnets
  ipam      "ZONE SUBNET" to the addresses of SDN's own IPAM
  quorate   false: reads alone are answered

Nodes and tokens there must be; the rest may be left out. Guests, pools, firewall and
SDN can be changed over the API too; tokens and nodes are the file's alone. The
example has guests 101 (VM) and 102 (container) in VLAN 1691 of vmbr0, 103 on the VNet
apps, an alias for a printer, and two tokens for --token: homeward@pve!status may
only read, homeward@pve!reserve writes the ledger too, and neither touches guests.
`

// faultHelp describes the faults of --fault.
func faultHelp() string {
	var rows [][]string
	for _, f := range pvesim.NamedFaults() {
		rows = append(rows, []string{"  " + f.Name, f.What})
	}
	var b strings.Builder
	b.WriteString("--fault lets each request fail, or with :EVERY each EVERYth of those it strikes:\n\n")
	table(&b, rows)
	b.WriteString(`
With each write struck "homeward reserve" returns 1 for no-quorum and lock-timeout,
0 for lost-answer (it looks, and finds what it wrote), and 4 for lost-write and for
unavailable. After a lock-timeout:2 or lost-write:2 it tries again, and returns 0.`)
	return b.String()
}

// simulatorExamples are for whoever writes a script.
const simulatorExamples = `  # in a script: until the end of the shell
  eval "$(homeward lab proxmox --listen 127.0.0.1:0 &)"
  trap 'kill "$HOMEWARD_LAB_PROXMOX_PID"' EXIT
  homeward reserve -f cluster.yaml

  # the same without command substitution, and with its failures seen
  homeward lab proxmox --export lab.env & pid=$!
  trap 'kill $pid' EXIT
  until [ -s lab.env ]; do kill -0 $pid || exit 1; sleep 0.1; done
  . ./lab.env

  # a guest that has an address of the pool, so that reserve returns 3
  homeward lab proxmox --example-state > pve.json   # and edit it
  eval "$(homeward lab proxmox --listen 127.0.0.1:0 --state pve.json &)"
  curl --cacert "$HOMEWARD_PROXMOX_CA_FILE" -X POST \
    -H "Authorization: PVEAPIToken=$HOMEWARD_PROXMOX_TOKEN_ID=$HOMEWARD_PROXMOX_TOKEN_SECRET" \
    "$HOMEWARD_PROXMOX_URL/api2/json/nodes/pve1/qemu" -d vmid=104 -d name=squatter \
    -d net0=virtio,bridge=vmbr0,tag=1691 -d ipconfig0=ip=203.0.113.77/25

  # a token that may only read
  eval "$(homeward lab proxmox --listen 127.0.0.1:0 --state pve.json --token 'homeward@pve!status' &)"

  # what a script does when the cluster has no quorum
  eval "$(homeward lab proxmox --listen 127.0.0.1:0 --fault no-quorum &)"

  # ask it yourself
  curl --cacert "$HOMEWARD_PROXMOX_CA_FILE" \
    -H "Authorization: PVEAPIToken=$HOMEWARD_PROXMOX_TOKEN_ID=$HOMEWARD_PROXMOX_TOKEN_SECRET" \
    "$HOMEWARD_PROXMOX_URL/api2/json/cluster/firewall/ipset"`
