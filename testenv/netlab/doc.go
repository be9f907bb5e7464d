//go:build linux

// Package netlab builds networks out of Linux network namespaces: hosts, links,
// gateways, a two-NIC cluster with traffic running through it, and the faults
// that a return path has to survive. It needs no root where the kernel lets an
// ordinary user make a user namespace.
//
// # Entering
//
// A test package enters the lab once, for all its tests:
//
//	func TestMain(m *testing.M) { netlab.Main(m) }
//
//	func TestReplies(t *testing.T) {
//		netlab.Require(t)
//		...
//	}
//
// Main starts the test binary again in a new user, network and mount namespace;
// whatever a test does to links, rules or /proc/sys/net stays in there and is
// gone when the process ends. Where namespaces are forbidden the tests still
// run, and Require skips with the reason, or fails when CI=true. A program does
// the same with [Enter].
//
// # Hosts
//
// A [Host] is a namespace without a name, held by a descriptor: nothing has to
// be cleaned up. Code acts inside it through [Host.Do], [Host.Netlink] and
// [Host.FD], programs run inside it with [Host.Command]. A [Capture] says what
// passed on a link; it fails rather than be blind.
//
// # The cluster
//
//	private 10.90.0.0/24                      external 203.0.113.0/24
//	   private gateway .1                        Router .1 ---- Behind 198.51.100.10
//	   (drops and counts spoofed sources)        OnLink .200
//	        |                                       |
//	        +--- ens18  node1, node2  ens19 --------+
//	             default route        anchor 169.254.33.11, .12 /32
//	             pod 10.244.1.10, 10.244.2.10 on a veth
//
// [NewCluster] builds it without any return path. [Cluster.Serve] stands in for
// kube-proxy, [Cluster.Announce] for MetalLB's speaker, [Node.HoldVIP] and
// [Node.Steer] for Talos. A test of an agent is then:
//
//	c, err := netlab.NewCluster(netlab.AnchorLayout)
//	err = c.Nodes[0].Steer()                  // not with --routes=manage
//	start the agent on c.Nodes[0] (Command, or in process with FD)
//	cells, err := c.Matrix(ctx, c.Nodes[0])   // every cell Answered, by PathExternal
//
// and under a fault:
//
//	load, err := netlab.StartLoad(ctx, netlab.LoadConfig{From: c.Behind, ...})
//	err = c.Nodes[0].FlushRuleset()
//	err = load.WaitReplies(ctx, 50)
//	result := load.Stop()                     // result.Lost, result.LongestGap
//
// Always ask from Behind: with [SubnetLayout] the OnLink client is answered
// without any return path, which is how such faults stay unseen.
//
// Marks, counters and sysctls belong to each host alone. What the machine shares
// with its hosts and the lab cannot change: the limit of the connection table
// and the largest socket buffers.
package netlab
