# flannel with iptables.
#
# Chains: pkg/trafficmngr/iptables/iptables.go (flannel-io/flannel). A chain of which a
# rule is missing is emptied and filled again by one iptables-restore.

postrouting() {
	restore <<END
*nat
:FLANNEL-POSTRTG - [0:0]
-A FLANNEL-POSTRTG -m mark --mark 0x4000/0x4000 -m comment --comment "flanneld masq" -j RETURN
-A FLANNEL-POSTRTG -s $PODS -d $CLUSTER -m comment --comment "flanneld masq" -j RETURN
-A FLANNEL-POSTRTG -s $CLUSTER -d $PODS -m comment --comment "flanneld masq" -j RETURN
-A FLANNEL-POSTRTG ! -s $CLUSTER -d $PODS -m comment --comment "flanneld masq" -j RETURN
-A FLANNEL-POSTRTG -s $CLUSTER ! -d 224.0.0.0/4 -m comment --comment "flanneld masq" -j MASQUERADE --random-fully
-A FLANNEL-POSTRTG ! -s $CLUSTER -d $CLUSTER -m comment --comment "flanneld masq" -j MASQUERADE --random-fully
COMMIT
*filter
:FLANNEL-FWD - [0:0]
-A FLANNEL-FWD -s $CLUSTER -m comment --comment "flanneld forward" -j ACCEPT
-A FLANNEL-FWD -d $CLUSTER -m comment --comment "flanneld forward" -j ACCEPT
COMMIT
END
}

install() {
	postrouting
	iptables -t nat -A POSTROUTING -m comment --comment "flanneld masq" -j FLANNEL-POSTRTG
	iptables -A FORWARD -m comment --comment "flanneld forward" -j FLANNEL-FWD
}

restart() {
	iptables -t nat -D POSTROUTING -m comment --comment "flanneld masq" -j FLANNEL-POSTRTG
	iptables -D FORWARD -m comment --comment "flanneld forward" -j FLANNEL-FWD
	install
}

cleanup() { iptables_save | grep -vi flannel | whole; }
