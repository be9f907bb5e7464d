// Package kernel lists and changes what the return path needs in the Linux
// kernel: one nftables table, routing rules and routes, links and neighbours. It
// watches them, and asks on the wire who has an address. On a Proxmox host it finds or
// makes the leg in a segment (Leg) and opens packet sockets there (Wire, DHCPWire).
//
// The table, as nft takes it (with the defaults, link ens19 and one range):
//
//	table inet homeward {
//		set ingress4 { type ipv4_addr; flags interval; elements = { 203.0.113.75-203.0.113.79 } }
//		chain prerouting {
//			type filter hook prerouting priority -149; policy accept;
//			iifname "ens19" ip daddr @ingress4 ct direction original counter ct mark set ct mark or 0x2000
//			ct direction original ct mark and 0x2000 == 0x2000 meta mark set meta mark and 0xffffdfff
//			ct direction reply ct mark and 0x2000 == 0x2000 counter meta mark set meta mark or 0x2000
//		}
//		chain output {
//			type route hook output priority -149; policy accept;
//			ct direction reply ct mark and 0x2000 == 0x2000 counter meta mark set meta mark or 0x2000
//		}
//	}
//
// Why it is so:
//
//   - The connection is marked in its original direction only, the packet in the
//     reply direction only: a marked original packet would be routed back to the
//     gateway after its destination was rewritten.
//   - Original packets lose our bit, which others may have put there: some copy a
//     connection's mark to all its packets (CONNMARK --restore-mark, Tailscale).
//   - The priority is the next after mangle. Of chains with one priority the kernel
//     asks the youngest first, and in mangle some assign the whole mark of a packet:
//     ours would be gone where they happen to be older.
//   - The hook is before destination NAT, so the packet still has the address that
//     the client asked for, and after conntrack. A nat chain would see only the
//     first packet of a connection, and older connections would never heal.
//   - The output chain has type route, because the mark of a local process's
//     packet must make the kernel route it again.
//   - Bits are set, never assigned; others keep theirs.
//   - Only what nft 1.0.1 can list is used: constants on the right side.
//
// Two kinds of pod write this table, the agent and a script for nft. What they
// write is the same to the byte where it acts, so each finds the other's table
// right and leaves it. The agent adds what nft neither shows nor heeds: its stamp
// in the rules' user data (see stamp.go).
//
// Everything here is safe for several goroutines: each call opens its own socket
// and closes it, so a socket that breaks takes nothing else with it.
package kernel
