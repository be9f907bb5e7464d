# Tailscale with iptables, as a subnet router that uses an exit node.
#
# Chains: util/linuxfw/iptables_runner.go (tailscale/tailscale); marks 0x40000 (subnet
# route) and 0x80000 (bypass) of mask 0xff0000: tsconst; the rules that save and restore
# the mark in conntrack since 1.96. Routing: wgengine/router/osrouter/router_linux.go,
# priorities 5210 to 5270, table 52; rules are deleted by priority and table alone.
# With an exit node table 52 has a default route, and throw routes for the networks at
# hand (ExitNodeAllowLANAccess).
mask=0xff0000

rules() {
	ip rule add priority 5210 fwmark 0x80000/$mask lookup main
	ip rule add priority 5230 fwmark 0x80000/$mask lookup default
	ip rule add priority 5250 fwmark 0x80000/$mask unreachable
	ip rule add priority 5270 lookup 52
}

norules() {
	ip rule del priority 5210 lookup main
	ip rule del priority 5230 lookup default
	ip rule del priority 5250 unreachable
	ip rule del priority 5270 lookup 52
}

# routes has the throw routes first: with the default route alone nothing is at hand.
routes() {
	for net in "$CLUSTER" "$NETWORK" "$EXTERNALNET"; do
		ip route add throw "$net" table 52
	done
	ip route add 100.64.0.9/32 dev "$TUNNEL" table 52
	ip route add default dev "$TUNNEL" table 52
}

firewall() {
	restore <<END
*filter
:ts-input - [0:0]
:ts-forward - [0:0]
-I INPUT -j ts-input
-I FORWARD -j ts-forward
-A ts-input ! -i $TUNNEL -s 100.115.92.0/23 -j RETURN
-A ts-input ! -i $TUNNEL -s 100.64.0.0/10 -j DROP
-A ts-input -i $TUNNEL -j ACCEPT
-A ts-input -p udp --dport 41641 -j ACCEPT
-A ts-forward -i $TUNNEL -j MARK --set-mark 0x40000/$mask
-A ts-forward -m mark --mark 0x40000/$mask -j ACCEPT
-A ts-forward -o $TUNNEL -s 100.64.0.0/10 -j DROP
-A ts-forward -o $TUNNEL -m conntrack ! --ctstate ESTABLISHED,RELATED -j DROP
-A ts-forward -o $TUNNEL -j ACCEPT
COMMIT
*nat
:ts-postrouting - [0:0]
-I POSTROUTING -j ts-postrouting
-A ts-postrouting -m mark --mark 0x40000/$mask -j MASQUERADE
COMMIT
END
	iptables -t mangle -I PREROUTING 1 -m conntrack --ctstate ESTABLISHED,RELATED -j CONNMARK --restore-mark --nfmask $mask --ctmask $mask
	iptables -t mangle -I OUTPUT 1 -m conntrack --ctstate NEW -m mark ! --mark 0x0/$mask -j CONNMARK --save-mark --nfmask $mask --ctmask $mask
}

nofirewall() {
	iptables -D INPUT -j ts-input
	iptables -D FORWARD -j ts-forward
	iptables -t nat -D POSTROUTING -j ts-postrouting
	for chain in ts-input ts-forward; do
		iptables -F $chain
		iptables -X $chain
	done
	iptables -t nat -F ts-postrouting
	iptables -t nat -X ts-postrouting
	iptables -t mangle -D PREROUTING -m conntrack --ctstate ESTABLISHED,RELATED -j CONNMARK --restore-mark --nfmask $mask --ctmask $mask
	iptables -t mangle -D OUTPUT -m conntrack --ctstate NEW -m mark ! --mark 0x0/$mask -j CONNMARK --save-mark --nfmask $mask --ctmask $mask
}

install() {
	rules
	ip link set "$TUNNEL" up
	firewall
	routes
}

restart() {
	cleanup
	install
}

# cleanup takes the link down first; the kernel takes its routes.
cleanup() {
	ip link set "$TUNNEL" down
	norules
	nofirewall
	ip route flush table 52
}
