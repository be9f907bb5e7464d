// Package hostunit holds what becomes of the Debian package homeward-host under a
// real systemd: its tests run in a virtual machine whose first process is systemd,
// which has nothing else to do. testenv/deb holds what needs no running system.
package hostunit
