# NetBird with nftables.
#
# Table and chains: client/firewall/nftables (netbirdio/netbird), the mark of connections:
# router_linux.go, setupDataPlaneMark; marks 0x1bd00 to 0x1bdff, whole: client/net/net.go.
# Rules 105 and 110, table 7120: client/internal/routemanager/systemops.

table() {
	cat <<END
table ip netbird {
	chain netbird-mangle-prerouting {
		type filter hook prerouting priority mangle; policy accept;
		iifname "$TUNNEL" ct state new ct mark set 0x1bd10
	}
	chain netbird-mangle-postrouting {
		type filter hook postrouting priority mangle; policy accept;
		oifname "$TUNNEL" ct state new ct mark set 0x1bd11
	}
	chain netbird-rt-fwd {
		type filter hook forward priority filter; policy accept;
		iifname "$TUNNEL" accept
	}
}
END
}

install() {
	table | nft -f -
	ip rule add priority 105 lookup main suppress_prefixlength 0
	ip rule add priority 110 not fwmark 0x1bd00 lookup 7120
	ip route add 100.64.0.9/32 dev "$TUNNEL" table 7120
}

restart() {
	cleanup
	install
}

cleanup() {
	nft delete table ip netbird
	ip rule del priority 105
	ip rule del priority 110
	ip route flush table 7120
}
