# Talos's KubeSpan.
#
# Chains: internal/app/machined/pkg/controllers/kubespan/manager.go (siderolabs/talos),
# kubespan_prerouting and kubespan_outgoing at priority 0; table: network/nftables_chain.go,
# which also makes the hint for iptables and, on every change, drops and adds all chains in
# one transaction. Marks 0x20 and 0x40 of mask 0x60, table 180, priority 32500:
# pkg/machinery/constants. Rules are deleted by table and mark.
peers='10.90.7.0/24, 10.244.9.0/24'

chains() {
	cat <<END
table inet talos {
	chain kubespan_prerouting {
		type filter hook prerouting priority filter; policy accept;
		meta mark and 0x60 == 0x20 accept
		ip daddr { $peers } meta mark set meta mark and 0xffffff9f xor 0x40 accept
	}
	chain kubespan_outgoing {
		type route hook output priority filter; policy accept;
		meta mark and 0x60 == 0x20 accept
		oifname "lo" accept
		ip daddr { $peers } meta mark set meta mark and 0xffffff9f xor 0x40 accept
	}
}
END
}

nochains() {
	for chain in kubespan_prerouting kubespan_outgoing; do
		echo "flush chain inet talos $chain"
		echo "delete chain inet talos $chain"
	done
}

norule() {
	ip rule list | while read -r priority rule; do
		case "$rule " in *' fwmark 0x40/0x60 lookup 180 '*) ip rule del priority "${priority%:}" lookup 180 ;; esac
	done
}

install() {
	{
		echo 'table ip mangle { chain KUBE-IPTABLES-HINT { }; }'
		chains
	} | nft -f -
	ip rule add priority 32500 fwmark 0x40/0x60 lookup 180
	ip route add default dev "$TUNNEL" table 180 metric 1 protocol static
}

restart() {
	{
		nochains
		chains
	} | nft -f -
	norule
	ip rule add priority 32500 fwmark 0x40/0x60 lookup 180
	ip route replace default dev "$TUNNEL" table 180 metric 1 protocol static
}

cleanup() {
	nochains | nft -f -
	nft 'delete table inet talos; delete table ip mangle'
	norule
	ip route flush table 180
}
