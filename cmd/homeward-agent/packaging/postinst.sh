#!/bin/sh
set -e
# $2 is the version that was configured before: an upgrade goes on with the new one.
if [ "$1" = configure ] && [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	if [ -n "$2" ]; then
		systemctl try-restart homeward-host.service
	fi
fi
