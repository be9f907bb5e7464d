#!/bin/sh
set -e
# Stopping takes away the interface that the agent has made. An upgrade keeps it
# running until the new version is there.
if [ "$1" = remove ] && [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
	systemctl disable --now homeward-host.service
fi
