# Calico's felix with iptables and WireGuard.
#
# Chains: felix/rules/static.go, dispatch.go, endpoints.go (projectcalico/calico).
# Marks: FelixConfiguration iptablesMarkMask 0xffff0000, of which felix takes single
# bits in this order: accept, pass, scratch0, scratch1, wireguard; the rest is for
# endpoints. Rule and table: felix/wireguard, FelixConfiguration
# wireguardRoutingRulePriority 99 and routeTableRanges 1-250; sysctl src_valid_mark:
# felix/wireguard. Where felix matches an ipset the replay has the prefix itself.
accept=0x10000 scratch0=0x40000 wireguard=0x100000 all=0xf0000
table=1

chains() {
	restore <<END
*raw
:cali-PREROUTING - [0:0]
:cali-OUTPUT - [0:0]
:cali-rpf-skip - [0:0]
:cali-from-host-endpoint - [0:0]
:cali-to-host-endpoint - [0:0]
$1 PREROUTING -m comment --comment "cali:rawpre" -j cali-PREROUTING
$1 OUTPUT -m comment --comment "cali:rawout" -j cali-OUTPUT
-A cali-PREROUTING -j MARK --set-xmark 0x0/$all
-A cali-PREROUTING -i $WORKLOADS -j MARK --set-xmark $scratch0/$scratch0
-A cali-PREROUTING -m mark --mark $scratch0/$scratch0 -j cali-rpf-skip
-A cali-PREROUTING -m mark --mark $scratch0/$scratch0 -m rpfilter --validmark --invert -j DROP
-A cali-PREROUTING -m mark --mark 0x0/$scratch0 -j cali-from-host-endpoint
-A cali-PREROUTING -m mark --mark $accept/$accept -j ACCEPT
-A cali-OUTPUT -j MARK --set-xmark 0x0/$all
-A cali-OUTPUT -j cali-to-host-endpoint
-A cali-OUTPUT -m mark --mark $accept/$accept -j ACCEPT
COMMIT
*mangle
:cali-PREROUTING - [0:0]
:cali-POSTROUTING - [0:0]
:cali-from-host-endpoint - [0:0]
:cali-to-host-endpoint - [0:0]
$1 PREROUTING -m comment --comment "cali:manpre" -j cali-PREROUTING
$1 POSTROUTING -m comment --comment "cali:manpost" -j cali-POSTROUTING
-A cali-PREROUTING -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A cali-PREROUTING -m mark --mark $accept/$accept -j ACCEPT
-A cali-PREROUTING -j cali-from-host-endpoint
-A cali-PREROUTING -m mark --mark $accept/$accept -j ACCEPT
-A cali-POSTROUTING -m mark --mark $accept/$accept -j RETURN
-A cali-POSTROUTING -j MARK --set-xmark 0x0/$all
-A cali-POSTROUTING -m conntrack --ctstate DNAT -j cali-to-host-endpoint
-A cali-POSTROUTING -m mark --mark $accept/$accept -j RETURN
COMMIT
*nat
:cali-PREROUTING - [0:0]
:cali-POSTROUTING - [0:0]
:cali-OUTPUT - [0:0]
:cali-fip-dnat - [0:0]
:cali-fip-snat - [0:0]
:cali-nat-outgoing - [0:0]
$1 PREROUTING -m comment --comment "cali:natpre" -j cali-PREROUTING
$1 OUTPUT -m comment --comment "cali:natout" -j cali-OUTPUT
$1 POSTROUTING -m comment --comment "cali:natpost" -j cali-POSTROUTING
-A cali-PREROUTING -j cali-fip-dnat
-A cali-OUTPUT -j cali-fip-dnat
-A cali-POSTROUTING -j cali-fip-snat
-A cali-POSTROUTING -j cali-nat-outgoing
-A cali-POSTROUTING -o $TUNNEL -m addrtype ! --src-type LOCAL --limit-iface-out -m addrtype --src-type LOCAL -j MASQUERADE --random-fully
-A cali-nat-outgoing -s $CLUSTER ! -d $CLUSTER -j MASQUERADE --random-fully
COMMIT
*filter
:cali-INPUT - [0:0]
:cali-FORWARD - [0:0]
:cali-OUTPUT - [0:0]
:cali-wl-to-host - [0:0]
:cali-from-wl-dispatch - [0:0]
:cali-to-wl-dispatch - [0:0]
:cali-fw-workload - [0:0]
:cali-tw-workload - [0:0]
:cali-from-hep-forward - [0:0]
:cali-to-hep-forward - [0:0]
:cali-cidr-block - [0:0]
$1 INPUT -m comment --comment "cali:filin" -j cali-INPUT
$1 FORWARD -m comment --comment "cali:filfwd" -j cali-FORWARD
$1 OUTPUT -m comment --comment "cali:filout" -j cali-OUTPUT
$2 FORWARD -m comment --comment "cali:filacc" -m mark --mark $accept/$accept -j ACCEPT
$2 FORWARD -m comment --comment "cali:filset" -j MARK --set-xmark $accept/$accept
-A cali-INPUT -i $WORKLOADS -g cali-wl-to-host
-A cali-INPUT -m mark --mark $accept/$accept -j ACCEPT
-A cali-INPUT -j MARK --set-xmark 0x0/$all
-A cali-wl-to-host -j cali-from-wl-dispatch
-A cali-wl-to-host -j RETURN
-A cali-FORWARD -j MARK --set-xmark 0x0/0xe0000
-A cali-FORWARD -m mark --mark 0x0/$accept -j cali-from-hep-forward
-A cali-FORWARD -i $WORKLOADS -j cali-from-wl-dispatch
-A cali-FORWARD -o $WORKLOADS -j cali-to-wl-dispatch
-A cali-FORWARD -j cali-to-hep-forward
-A cali-FORWARD -j cali-cidr-block
-A cali-OUTPUT -m mark --mark $accept/$accept -j ACCEPT
-A cali-OUTPUT -o $WORKLOADS -j RETURN
-A cali-OUTPUT -j MARK --set-xmark 0x0/$all
-A cali-from-wl-dispatch -i $PODLINK -g cali-fw-workload
-A cali-from-wl-dispatch -j DROP
-A cali-to-wl-dispatch -o $PODLINK -g cali-tw-workload
-A cali-to-wl-dispatch -j DROP
-A cali-fw-workload -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A cali-fw-workload -m conntrack --ctstate INVALID -j DROP
-A cali-fw-workload -j MARK --set-xmark 0x0/$accept
-A cali-fw-workload -j MARK --set-xmark $accept/$accept
-A cali-fw-workload -m mark --mark $accept/$accept -j RETURN
-A cali-fw-workload -j DROP
-A cali-tw-workload -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A cali-tw-workload -m conntrack --ctstate INVALID -j DROP
-A cali-tw-workload -j MARK --set-xmark 0x0/$accept
-A cali-tw-workload -j MARK --set-xmark $accept/$accept
-A cali-tw-workload -m mark --mark $accept/$accept -j RETURN
-A cali-tw-workload -j DROP
COMMIT
END
}

routing() {
	ip rule add priority 99 not fwmark $wireguard/$wireguard lookup $table
	ip route add 10.244.9.0/24 dev "$TUNNEL" scope link table $table protocol 80
	ip route add throw "$PODS" table $table protocol 80
}

# sweep takes away what felix deems its own: every rule that looks up a table of its
# range, and every route in such a table, whoever made them.
sweep() {
	ip rule list | while read -r priority rule; do
		for i in $(seq 1 250); do
			case "$rule " in *" lookup $i "*) ip rule del priority "${priority%:}" lookup "$i" ;; esac
		done
	done
	ip route flush table $table
}

install() {
	chains -I -A
	routing
	echo 1 >/proc/sys/net/ipv4/conf/all/src_valid_mark
}

# restart is that of a felix of another version, whose rules have other hashes: each
# table in one transaction, the jumps put in again and the old ones taken away.
restart() {
	iptables -t filter -D FORWARD -m comment --comment "cali:filacc" -m mark --mark $accept/$accept -j ACCEPT
	iptables -t filter -D FORWARD -m comment --comment "cali:filset" -j MARK --set-xmark $accept/$accept
	chains -D '# not yet'
	chains -I -A
	sweep
	routing
}

# cleanup is the usual advice: save everything, drop every line with cali, restore
# everything.
cleanup() {
	iptables_save | grep -v cali | whole
	sweep
	echo 0 >/proc/sys/net/ipv4/conf/all/src_valid_mark
}
