# flannel in nftables mode.
#
# Tables: pkg/trafficmngr/nftables/nftables.go (flannel-io/flannel). Note that it asks for
# the whole mark 0x4000, without a mask. The tables are deleted when flanneld ends.

install() {
	nft -f - <<END
table ip flannel-ipv4 {
	comment "rules for flannel-ipv4"
	chain forward {
		comment "chain to accept flannel traffic"
		type filter hook forward priority filter; policy accept;
		ip saddr $CLUSTER accept
		ip daddr $CLUSTER accept
	}
	chain postrtg {
		comment "chain to manage traffic masquerading by flannel"
		type nat hook postrouting priority srcnat; policy accept;
		meta mark 0x4000 return
		ip saddr $PODS ip daddr $CLUSTER return
		ip saddr $CLUSTER ip daddr $PODS return
		ip saddr != $PODS ip daddr $CLUSTER return
		ip saddr $CLUSTER ip daddr != 224.0.0.0/4 masquerade fully-random
		ip saddr != $CLUSTER ip daddr $CLUSTER masquerade fully-random
	}
}
table ip6 flannel-ipv6 {
	comment "rules for flannel-ipv6"
}
END
}

restart() {
	cleanup
	install
}

cleanup() {
	nft delete table ip flannel-ipv4
	nft delete table ip6 flannel-ipv6
}
