# Tailscale with nftables, as on Talos, where there is no iptables.
#
# Chains: util/linuxfw/nftables_runner.go (tailscale/tailscale), in the tables that
# iptables-nft would use; routing as in tailscale.sh. $RESTORE and $SAVE are what a version
# does with the mark in conntrack, $MASK where it looks for its bits.

firewall() {
	nft -f - <<END
table ip filter {
	chain ts-input {
		iifname "lo" ip saddr 100.64.0.2 counter accept
		iifname != "$TUNNEL" ip saddr 100.115.92.0/23 counter return
		iifname != "$TUNNEL" ip saddr 100.64.0.0/10 counter drop
		iifname "$TUNNEL" counter accept
		udp dport 41641 counter accept
	}
	chain ts-forward {
		iifname "$TUNNEL" counter meta mark set $SUBNET
		meta mark and $MASK == $SUBNETMARK counter accept
		oifname "$TUNNEL" ip saddr 100.64.0.0/10 counter drop
		oifname "$TUNNEL" ct state != { established, related } counter drop
		oifname "$TUNNEL" counter accept
	}
	chain INPUT { type filter hook input priority filter; policy accept; }
	chain FORWARD { type filter hook forward priority filter; policy accept; }
}
insert rule ip filter INPUT counter jump ts-input
insert rule ip filter FORWARD counter jump ts-forward
table ip nat {
	chain ts-postrouting { meta mark and $MASK == $SUBNETMARK counter masquerade; }
	chain POSTROUTING { type nat hook postrouting priority srcnat; policy accept; }
}
insert rule ip nat POSTROUTING counter jump ts-postrouting
table ip mangle {
	chain PREROUTING { type filter hook prerouting priority mangle; policy accept; }
	chain OUTPUT { type filter hook output priority mangle; policy accept; }
}
insert rule ip mangle PREROUTING $RESTORE comment "ts-connmark-restore"
insert rule ip mangle OUTPUT $SAVE comment "ts-connmark-save"
END
}

# The tables and base chains stay, as they may be others' too; here all rules in them are
# its own.
nofirewall() {
	nft -f - <<END
flush chain ip filter INPUT
flush chain ip filter FORWARD
flush chain ip nat POSTROUTING
flush chain ip mangle PREROUTING
flush chain ip mangle OUTPUT
flush chain ip filter ts-input
flush chain ip filter ts-forward
flush chain ip nat ts-postrouting
delete chain ip filter ts-input
delete chain ip filter ts-forward
delete chain ip nat ts-postrouting
END
}
