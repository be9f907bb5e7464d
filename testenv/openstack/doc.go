//go:build linux

// Package openstack is a lab of a real OpenStack: Debian's Keystone and Neutron,
// unmodified, on a database of their own, for tests of what a member of a project
// can do and what the servers say to it.
//
//	cloud, err := openstack.Open(ctx, openstack.Options{})  // in TestMain, once
//	defer cloud.Stop()
//	project, err := cloud.NewProject(ctx, "reserve", openstack.Quota{openstack.Ports: 5})
//	client, err := project.Client(ctx, cloud.Identity())
//	...
//	left, err := cloud.Holdings(ctx, project.ID)  // nothing, after a release
//
// Everything is in a private directory and on free ports of the loopback interface;
// nothing below /etc or /var is touched, no root is needed. All processes are one
// group, which ends with the process that started the lab, even when that is killed.
//
// # One lab for several packages
//
// The command run starts a lab, tells the command that follows where it is, and
// stops it at the end; Open then uses that one instead of starting another:
//
//	go run ./testenv/openstack/run -- go test -p 1 ./testenv/openstack/... ./agent/openstack/...
//	go run ./testenv/openstack/run -- bash
//
// `make test-openstack` is the first of these. Without HOMEWARD_OPENSTACK=1, which
// run sets too, tests of the lab are skipped: see [Wanted].
//
// Tests are apart by their project. What they share are the external network
// "public" with its range, and the database: a test that calls
// [Cloud.KillDatabase] must be the only one, so such packages run one after the
// other (-p 1), and within a package such a test is not parallel.
//
// # What is not real
//
// There are no agents, no message broker and no Nova: ports and floating addresses
// stay DOWN for ever, nothing is forwarded, there is no availability zone, and a
// worker is a plain port. Two settings are not the usual ones: the servers give up
// the database after seconds, not minutes, and Neutron believes a token for two
// seconds, not five minutes, so that [Cloud.ExpireTokens] is quick. The
// versions are those of Debian 12 (Keystone 22, Neutron 21).
//
// The files facts_*_test.go record what these servers answer to everything that
// agent/openstack relies on. Answers that surprised:
//
//   - Of a bulk of ports that fails, addresses chosen for the others stay taken by
//     nothing until the subnet is deleted. Chosen addresses need single requests.
//   - A floating address that a port has is moved to another port without a word.
//   - If-Match with a revision refuses a stale one, but of several at once with the
//     same revision more than one can be told 200. It is no lock. PUT of tags with a
//     stale one is 500.
//   - Lists by name or tag compare without case: "One" is found by "one".
//   - Only ports can be made with tags; every kind can be made with a description.
//   - allowed_address_pairs are texts: 10.0.0.50 and 10.0.0.50/32 are two pairs. So
//     are prefixes of rules with bits behind them.
//   - A request that hangs because the database is gone may be done when that is
//     back, after its client has given up.
//   - The interface of a router counts as a port but is never refused for the quota.
package openstack
