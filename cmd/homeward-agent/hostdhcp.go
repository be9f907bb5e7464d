//go:build linux

package main

import "context"

func (h *host) dhcpCheck(context.Context) int { return exitDone }
