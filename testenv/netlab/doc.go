// Package netlab builds networks out of Linux network namespaces: hosts, links,
// gateways, a two-NIC cluster with traffic running through it, and the faults
// that a return path has to survive. It needs no root where the kernel lets an
// ordinary user make a user namespace.
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
// run, and Require skips with the reason, or fails when CI=true.
//
// A program does the same with [Enter].
package netlab
