# kube-proxy in iptables mode, and the kubelet's chain.
#
# Chains: pkg/proxy/iptables/proxier.go (kubernetes/kubernetes); marks 0x4000 (masquerade)
# and 0x8000 (drop, the kubelet's KUBE-FIREWALL). The services themselves are the lab's
# own; the one here is nobody's.

tables() {
	restore <<END
*filter
:KUBE-SERVICES - [0:0]
:KUBE-EXTERNAL-SERVICES - [0:0]
:KUBE-FORWARD - [0:0]
:KUBE-NODEPORTS - [0:0]
:KUBE-PROXY-FIREWALL - [0:0]
:KUBE-FIREWALL - [0:0]
:KUBE-PROXY-CANARY - [0:0]
-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP
-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x4000/0x4000 -j ACCEPT
-A KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A KUBE-FIREWALL -m comment --comment "kubernetes firewall for dropping marked packets" -m mark --mark 0x8000/0x8000 -j DROP
COMMIT
*nat
:KUBE-SERVICES - [0:0]
:KUBE-NODEPORTS - [0:0]
:KUBE-POSTROUTING - [0:0]
:KUBE-MARK-MASQ - [0:0]
:KUBE-PROXY-CANARY - [0:0]
:KUBE-SVC-NOBODY - [0:0]
:KUBE-SEP-NOBODY - [0:0]
-A KUBE-SERVICES -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -m comment --comment "nobody cluster IP" -j KUBE-SVC-NOBODY
-A KUBE-SERVICES -m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain" -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS
-A KUBE-SVC-NOBODY ! -s $CLUSTER -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j KUBE-MARK-MASQ
-A KUBE-SVC-NOBODY -j KUBE-SEP-NOBODY
-A KUBE-SEP-NOBODY -p tcp -m tcp -j DNAT --to-destination 10.244.9.9:8080
-A KUBE-MARK-MASQ -j MARK --or-mark 0x4000
-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
-A KUBE-POSTROUTING -j MARK --xor-mark 0x4000
-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully
COMMIT
*mangle
:KUBE-PROXY-CANARY - [0:0]
COMMIT
END
}

# jumps lists the calls: the chain's table, hook, chain, and what stands before.
jumps='filter INPUT KUBE-NODEPORTS
filter INPUT KUBE-EXTERNAL-SERVICES -m conntrack --ctstate NEW
filter INPUT KUBE-PROXY-FIREWALL -m conntrack --ctstate NEW
filter INPUT KUBE-FIREWALL
filter FORWARD KUBE-SERVICES -m conntrack --ctstate NEW
filter FORWARD KUBE-FORWARD
filter FORWARD KUBE-PROXY-FIREWALL -m conntrack --ctstate NEW
filter OUTPUT KUBE-SERVICES -m conntrack --ctstate NEW
filter OUTPUT KUBE-FIREWALL
nat PREROUTING KUBE-SERVICES
nat OUTPUT KUBE-SERVICES
nat POSTROUTING KUBE-POSTROUTING'

jump() {
	echo "$jumps" | while read -r table hook chain match; do
		# shellcheck disable=SC2086 # the match is several words
		iptables -t "$table" "$1" "$hook" $match -j "$chain"
	done
}

install() {
	tables
	jump -I
}

restart() {
	jump -D
	tables
	jump -I
}

# cleanup is kube-proxy --cleanup, and what remains by the usual advice: save
# everything, drop every line with KUBE, restore everything.
cleanup() {
	jump -D
	iptables_save | grep -v KUBE | whole
}
