#!/bin/sh
# Gives every machine of the plan its NICs: one "pvesh set" for each, with net0 (the
# private NIC) and, where the machine has it, net1 (the external NIC).
#
# It REPLACES ALL OPTIONS of these NICs. What a NIC has besides (queues, rate,
# trunks, link_down, another model or address) is gone afterwards. Other NICs and
# net1 of a machine without an external NIC stay as they are.
#
# Run it as root on a node of the Proxmox cluster, first with --dry-run.
set -eu

usage() {
	cat <<'EOF'
usage: nics.sh [--dry-run] [--running] [--any-name]
  --dry-run   show what is and what would be set, change nothing
  --running   also change a running machine: a new address or model unplugs its NIC
  --any-name  also take a VM whose name is not the machine's
It replaces all options of net0 and net1. Every machine is checked before the
first one is changed.
EOF
}

dry_run=no running=no any_name=no
for arg in "$@"; do
	case $arg in
	--dry-run) dry_run=yes ;;
	--running) running=yes ;;
	--any-name) any_name=yes ;;
	-h | --help)
		usage
		exit 0
		;;
	*)
		usage >&2
		exit 2
		;;
	esac
done

# each STEP takes one step for every machine: NAME NODE VMID NET0 NET1, empty where
# the plan has none.
each() {
	step=$1
	machine 'edge-controlplane-01' 'pve1' '' 'virtio=02:48:71:02:90:ea,bridge=priv,firewall=1,mtu=9000' 'virtio=02:1c:d2:41:cb:5e,bridge=pub,firewall=1,tag=7'
	machine 'edge-batch-01' 'pve2' 301 'virtio=02:aa:00:00:00:01,bridge=priv,firewall=1,mtu=9000' ''
	machine 'edge-worker-01' '' '' 'virtio=bc:24:11:00:00:01,bridge=priv,firewall=1,mtu=9000' 'virtio=bc:24:11:00:00:02,bridge=pub,firewall=1,tag=7'
}

machine() {
	case $step in
	plan) check_plan "$@" ;;
	vm) check_vm "$@" ;;
	*) set_nics "$@" ;;
	esac
}

faults=0
fault() {
	echo "nics.sh: $1" >&2
	faults=$((faults + 1))
}

stop_on_faults() {
	[ "$faults" -eq 0 ] && return
	echo "nics.sh: $faults faults, nothing was changed" >&2
	exit 1
}

# field NAME prints a string of the JSON on its input, nothing when it has none.
field() {
	sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p'
}

# same OLD NEW compares two NICs; the address may be in either case.
same() {
	[ "${1#*,}" = "${2#*,}" ] || return 1
	[ "$(echo "${1%%,*}" | tr '[:lower:]' '[:upper:]')" = "$(echo "${2%%,*}" | tr '[:lower:]' '[:upper:]')" ]
}

# look reads a VM's configuration and says in $changes whether it differs.
look() {
	config=$(pvesh get "/nodes/$2/qemu/$3/config" --output-format json) || return 1
	old0=$(printf '%s\n' "$config" | field net0)
	old1=$(printf '%s\n' "$config" | field net1)
	changes=yes
	if same "$old0" "$4" && { [ -z "$5" ] || same "$old1" "$5"; }; then
		changes=no
	fi
}

check_plan() {
	[ -n "$2" ] || fault "$1: no node in the plan, give machines.$1.node in cluster.yaml"
	[ -n "$3" ] || fault "$1: no vmid in the plan, give machines.$1.vmid in cluster.yaml"
}

check_vm() {
	if ! look "$@"; then
		fault "$1: cannot read VM $3 on node $2"
		return
	fi
	name=$(printf '%s\n' "$config" | field name)
	if [ -n "$name" ] && [ "$name" != "$1" ] && [ "$any_name" = no ]; then
		fault "$1: VM $3 on node $2 is called $name, give --any-name if it is the right one"
	fi
	if [ "$changes" = yes ] && [ "$running" = no ] && [ "$dry_run" = no ] &&
		[ "$(pvesh get "/nodes/$2/qemu/$3/status/current" --output-format json | field status)" = running ]; then
		fault "$1: VM $3 on node $2 is running and would change, shut it down or give --running"
	fi
}

set_nics() {
	look "$@"
	if [ "$changes" = no ]; then
		echo "$1 (VM $3 on $2): unchanged"
		return
	fi
	echo "$1 (VM $3 on $2):"
	echo "  net0 was ${old0:-absent}"
	echo "  net0 now $4"
	if [ -n "$5" ]; then
		echo "  net1 was ${old1:-absent}"
		echo "  net1 now $5"
	fi
	[ "$dry_run" = no ] || return 0
	if [ -n "$5" ]; then
		pvesh set "/nodes/$2/qemu/$3/config" --net0 "$4" --net1 "$5"
	else
		pvesh set "/nodes/$2/qemu/$3/config" --net0 "$4"
	fi
}

each plan
stop_on_faults
if ! command -v pvesh >/dev/null; then
	fault "pvesh is not here, run this on a Proxmox node"
fi
stop_on_faults
each vm
stop_on_faults
each set
[ "$dry_run" = no ] || echo "dry run, nothing was changed"
