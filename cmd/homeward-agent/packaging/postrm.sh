#!/bin/sh
set -e
if [ "$1" = purge ]; then
	dir="$DPKG_ROOT/etc/systemd/system/homeward-host.service.d"
	if [ -L "$dir/net-admin.conf" ]; then
		rm "$dir/net-admin.conf"
	fi
	if [ -d "$dir" ]; then
		rmdir --ignore-fail-on-non-empty "$dir"
	fi
fi
if [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
