# Cilium beside kube-proxy, with its L7 proxy and masquerading by iptables.
#
# Chains and rules: pkg/datapath/iptables/iptables.go (cilium/cilium), as listed in its
# issues (iptables-save of 1.14 to 1.16). Marks: bpf/lib/common.h, MARK_MAGIC_*: 0x0f00,
# an identity in the upper 16 bits and the low byte; the proxy's whole mark 0x200.
# Rules and tables: pkg/datapath/linux/linux_defaults: priorities 9 and 10, tables 2004
# and 2005, the lookup of local moved from 0 to 100. Restart: the chains are renamed to
# OLD_*, made anew, the old ones removed.
#
# The pod's packets are marked by a program at its veth (bpf_lxc); a chain in front of
# raw stands in for it.

chains() {
	restore <<END
*raw
:CILIUM_PRE_raw - [0:0]
:CILIUM_OUTPUT_raw - [0:0]
-A CILIUM_PRE_raw -m mark --mark 0x200/0xf00 -m comment --comment "cilium: NOTRACK for proxy traffic" -j CT --notrack
-A CILIUM_OUTPUT_raw -o $WORKLOADS -m mark --mark 0xa00/0xfffffeff -m comment --comment "cilium: NOTRACK for proxy return traffic" -j CT --notrack
-A CILIUM_OUTPUT_raw -o $TUNNEL -m mark --mark 0xa00/0xfffffeff -m comment --comment "cilium: NOTRACK for proxy return traffic" -j CT --notrack
-A CILIUM_OUTPUT_raw -o $WORKLOADS -m mark --mark 0x800/0xe00 -m comment --comment "cilium: NOTRACK for L7 proxy upstream traffic" -j CT --notrack
-A CILIUM_OUTPUT_raw -o $TUNNEL -m mark --mark 0x800/0xe00 -m comment --comment "cilium: NOTRACK for L7 proxy upstream traffic" -j CT --notrack
COMMIT
*mangle
:CILIUM_PRE_mangle - [0:0]
:CILIUM_POST_mangle - [0:0]
-A CILIUM_PRE_mangle ! -o lo -m socket --transparent -m comment --comment "cilium: any->pod redirect proxied traffic to host proxy" -j MARK --set-xmark 0x200/0xffffffff
-A CILIUM_PRE_mangle -p tcp -m mark --mark 0x5b2a0200 -m comment --comment "cilium: TPROXY to host proxy" -j TPROXY --on-port 10843 --on-ip 127.0.0.1 --tproxy-mark 0x200/0xffffffff
-A CILIUM_PRE_mangle -p udp -m mark --mark 0x5b2a0200 -m comment --comment "cilium: TPROXY to host proxy" -j TPROXY --on-port 10843 --on-ip 127.0.0.1 --tproxy-mark 0x200/0xffffffff
COMMIT
*nat
:CILIUM_PRE_nat - [0:0]
:CILIUM_OUTPUT_nat - [0:0]
:CILIUM_POST_nat - [0:0]
-A CILIUM_POST_nat -s $PODS ! -d $CLUSTER ! -o cilium_+ -m comment --comment "cilium masquerade non-cluster" -j MASQUERADE
-A CILIUM_POST_nat -m mark --mark 0xa00/0xe00 -m comment --comment "exclude proxy return traffic from masquerade" -j ACCEPT
COMMIT
*filter
:CILIUM_INPUT - [0:0]
:CILIUM_FORWARD - [0:0]
:CILIUM_OUTPUT - [0:0]
-A CILIUM_INPUT -m mark --mark 0x200/0xf00 -m comment --comment "cilium: ACCEPT for proxy traffic" -j ACCEPT
-A CILIUM_FORWARD -o $TUNNEL -m comment --comment "cilium: any->cluster on cilium_host forward accept" -j ACCEPT
-A CILIUM_FORWARD -i $WORKLOADS -m comment --comment "cilium: cluster->any on lxc+ forward accept" -j ACCEPT
-A CILIUM_OUTPUT -m mark --mark 0xa00/0xe00 -m comment --comment "cilium: ACCEPT for proxy traffic" -j ACCEPT
-A CILIUM_OUTPUT -m mark --mark 0x800/0xe00 -m comment --comment "cilium: ACCEPT for l7 proxy upstream traffic" -j ACCEPT
-A CILIUM_OUTPUT -m mark ! --mark 0xe00/0xf00 -m mark ! --mark 0xd00/0xf00 -m mark ! --mark 0xa00/0xe00 -m mark ! --mark 0x800/0xe00 -m mark ! --mark 0xf00/0xf00 -m comment --comment "cilium: host->any mark as from host" -j MARK --set-xmark 0xc00/0xf00
COMMIT
END
}

# feeders lists where each chain is called.
feeders='raw PREROUTING CILIUM_PRE_raw
raw OUTPUT CILIUM_OUTPUT_raw
mangle PREROUTING CILIUM_PRE_mangle
mangle POSTROUTING CILIUM_POST_mangle
nat PREROUTING CILIUM_PRE_nat
nat OUTPUT CILIUM_OUTPUT_nat
nat POSTROUTING CILIUM_POST_nat
filter INPUT CILIUM_INPUT
filter FORWARD CILIUM_FORWARD
filter OUTPUT CILIUM_OUTPUT'

feed() {
	echo "$feeders" | while read -r table hook chain; do
		iptables -t "$table" -I "$hook" -m comment --comment "cilium-feeder: $chain" -j "$chain"
	done
}

# remove PREFIX takes away every rule whose text has the prefix, then the chains.
remove() {
	for table in nat mangle raw filter; do
		iptables -t $table -S | grep -- "$1" | grep -- '^-A' | sed 's/^-A/-D/' | while read -r rule; do
			eval "iptables -t $table $rule"
		done
	done
	echo "$feeders" | while read -r table _ chain; do
		iptables -t "$table" -X "${2:-}$chain"
	done
}

# routing has every rule in the kernel's own protocol, as Cilium does.
routing() {
	ip rule add priority 9 fwmark 0x200/0xf00 lookup 2004 protocol kernel
	ip rule add priority 10 fwmark 0xa00/0xf00 lookup 2005 protocol kernel
	ip route replace local default dev lo table 2004 protocol kernel
	ip route replace 10.244.1.1 dev "$TUNNEL" scope link table 2005 protocol kernel
	ip route replace default via 10.244.1.1 dev "$TUNNEL" table 2005 protocol kernel
}

install() {
	ip rule add priority 100 lookup local protocol kernel
	ip rule del priority 0 lookup local
	routing
	chains
	feed
	nft -f - <<END
table inet cilium_lxc_stand_in {
	chain from-container {
		type filter hook prerouting priority -310; policy accept;
		iifname "$PODLINK" meta mark set 0x12340f00
	}
}
END
}

restart() {
	echo "$feeders" | while read -r table _ chain; do
		iptables -t "$table" -E "$chain" "OLD_$chain"
	done
	chains
	feed
	remove OLD_CILIUM_ OLD_
	ip rule del priority 9
	ip rule del priority 10
	routing
}

cleanup() {
	remove CILIUM_
	ip rule del priority 9
	ip rule del priority 10
	ip route flush table 2004
	ip route flush table 2005
	ip rule add priority 0 lookup local protocol kernel
	ip rule del priority 100 lookup local
	nft delete table inet cilium_lxc_stand_in
}
