// Package returnpath keeps one node's return path true: every reply to a
// connection that came in by the external link leaves by it again.
//
// What the node shall look like is one value, [State], made of [Settings] and
// the external link as it is now. A pass lists what the kernel has, compares
// ([Diff]), applies the steps, and lists again: what counts is what the kernel
// then says, not what the calls returned. Where nothing differs nothing is
// written, so the table's counters live on.
//
// Events only trigger a pass; a timed resync backs them up. On exit nothing is
// removed: replies keep going home while no agent runs. [Cleanup] is the only
// thing here that takes the return path away.
//
// The package knows no netlink. What it needs of the machine are the interfaces
// [Kernel], [GatewayProber] and [Clock].
package returnpath
