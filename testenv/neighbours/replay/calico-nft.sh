# Calico's felix in nftables mode.
#
# Table and base chains: felix/nftables/table.go (projectcalico/calico), one table
# calico, chains TABLE-HOOK at the kernel's priorities, the rest called TABLE-cali-*.
# Rules: felix/rules/static.go. Mark: FelixConfiguration nftablesMarkMask 0xffff0000.
# Cleaned up by deleting the table (felix does so when it changes to iptables).

WORKLOADS='veth-*'

# table prints the chains that felix owns.
table() {
	cat <<END
table ip calico {
	chain raw-PREROUTING {
		type filter hook prerouting priority raw; policy accept;
		jump raw-cali-PREROUTING
	}
	chain raw-cali-PREROUTING {
		meta mark set meta mark and 0xfff0ffff
		iifname "$WORKLOADS" meta mark set meta mark or 0x40000
		meta mark and 0x40000 == 0x40000 fib saddr . mark . iif oif 0 drop
		meta mark and 0x10000 == 0x10000 accept
	}
	chain raw-OUTPUT {
		type filter hook output priority raw; policy accept;
		meta mark set meta mark and 0xfff0ffff
	}
	chain mangle-PREROUTING {
		type filter hook prerouting priority mangle; policy accept;
		ct state established,related accept
		meta mark and 0x10000 == 0x10000 accept
	}
	chain mangle-OUTPUT {
		type route hook output priority mangle; policy accept;
	}
	chain mangle-POSTROUTING {
		type filter hook postrouting priority mangle; policy accept;
		jump mangle-cali-POSTROUTING
	}
	chain mangle-cali-POSTROUTING {
		meta mark and 0x10000 == 0x10000 return
		meta mark set meta mark and 0xfff0ffff
	}
	chain nat-POSTROUTING {
		type nat hook postrouting priority srcnat; policy accept;
		ip saddr $CLUSTER ip daddr != $CLUSTER masquerade fully-random
	}
	chain filter-FORWARD {
		type filter hook forward priority filter; policy accept;
		jump filter-cali-FORWARD
		meta mark set meta mark or 0x10000
	}
	chain filter-cali-FORWARD {
		meta mark set meta mark and 0xfff1ffff
		iifname "$WORKLOADS" ct state invalid drop
		iifname "$WORKLOADS" meta mark set meta mark or 0x10000
	}
	chain filter-INPUT {
		type filter hook input priority filter; policy accept;
		meta mark set meta mark and 0xfff0ffff
	}
	chain filter-OUTPUT {
		type filter hook output priority filter; policy accept;
		meta mark set meta mark and 0xfff0ffff
	}
}
END
}

install() { table | nft -f -; }

# restart is one transaction that empties and refills every chain; the base chains are
# made anew, as an upgrade with another priority does.
restart() {
	{
		echo 'delete table ip calico'
		table
	} | nft -f -
}

cleanup() { nft delete table ip calico; }
