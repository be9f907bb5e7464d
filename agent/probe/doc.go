// Package probe measures reachability from wherever it runs: one attempt per
// interval and target, on a schedule that neither drifts nor waits for attempts
// that hang, and from the attempts outages, with what is certain of their length.
//
// # What an attempt is
//
// An attempt is one TCP handshake, and on it a TLS handshake or an HTTP GET if
// asked for; or one UDP datagram and its echo. The handshake gets at most
// [HandshakeLimit], less than the second after which a kernel repeats a SYN
// (RFC 6298): each attempt stands for its own moment, and none that began in an
// outage succeeds after it by a repetition. Connections are closed with a reset
// (SO_LINGER zero). That is less polite than a FIN, but ten attempts a second
// would otherwise leave 600 sockets in TIME_WAIT per target, and hold as many
// entries for two minutes in each connection table on the way.
//
// On Linux bare handshakes are made on non-blocking sockets by the goroutine that
// keeps the schedule, which looks for their ends while it waits: a thousand
// targets ten times a second fit on one processor so. Elsewhere, and with more
// than a handshake, each attempt has a goroutine. What an attempt proves is the
// same.
//
// # What an outage is
//
// An outage is a run of failed attempts, in the order in which they began. It
// starts with the first that failed and ends with the first that succeeded again,
// both at the time they began. The true start lies after the last success before,
// the true end after the last failure, so each is known to one interval: the
// outage was at least as long as from its first to its last failure, and at most
// as long as from the success before to the success after.
//
// What fails on this machine (too many open files, no free port, not permitted)
// is the probe's own failure. Such an attempt is unknown: it neither starts nor
// ends an outage, it only widens what is uncertain. The same holds for attempts
// that this machine was too late to judge. When the schedule itself stood still,
// because the machine slept or the process was stopped, the probe was away: that
// time is reported as [Away], belongs to no outage, and cuts one that was under
// way.
//
// # Clocks
//
// Times are counted from the start by the monotonic clock and the time the
// machine slept, so a wall clock that is set meanwhile moves no outage; it is
// reported as a [ClockStep].
package probe
