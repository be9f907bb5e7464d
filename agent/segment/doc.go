// Package segment asks and listens by ARP on one L2 segment: who answers for an
// address now, who took it over and when, and whether a stranger answers too.
//
// It is a packet codec and two state machines that are fed with frames and times;
// what they talk through is a [Wire], which agent/kernel opens:
//
//	wire, err := kernel.New(log).OpenWire(ctx, "vmbr0.1691")
//	report, err := segment.Probe(ctx, wire, segment.Question{
//		Addresses: pool,                   // every one is asked, side by side
//		Witnesses: []netip.Addr{gateway},  // who is known to answer
//	})
//
// # When an address is free
//
// Silence alone says nothing: a bridge that is not in the VLAN, a guest whose
// ipfilter drops probes and a pulled cable are silent too, and a squatted address
// then looks free. So an address is called free only when the way there and back
// was seen to work during the same probe: a witness answered (the gateway, or another
// address that somebody is known to have). Else it is unknown. A guest behind an ipfilter shows exactly so: its
// gateway, which every plain request reaches, does not answer the probe.
//
// # What is sent
//
// Only probes of RFC 5227: broadcast requests with the sender 0.0.0.0. They are
// answered, change no neighbour cache, and need no address here. Nothing here ever
// claims an address.
package segment
