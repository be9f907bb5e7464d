// Package packaging holds what the Debian package homeward-host is made of besides
// the agent itself: the systemd unit, its defaults and the maintainer's scripts. It
// has no code: testenv/deb builds the package (`make deb`), and its tests install,
// upgrade, remove and purge it.
//
// The service runs as a user of its own with CAP_NET_RAW alone. net-admin.conf is
// the drop-in that gives it CAP_NET_ADMIN, for hosts on which it has to make the
// VLAN interface; /etc/default/homeward-host says how to switch it on. The unit is
// not enabled by the package: it has nothing to watch before there is a plan.
package packaging
