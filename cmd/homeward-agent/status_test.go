//go:build linux

package main

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestStatusWithoutAnAgent holds that nobody at the address is told as that, with
// where to look.
func TestStatusWithoutAnAgent(t *testing.T) {
	gone := httptest.NewServer(nil)
	address := strings.TrimPrefix(gone.URL, "http://")
	gone.Close()
	var out, errs bytes.Buffer
	code := runStatus(t.Context(), []string{"--listen=" + address}, &out, &errs)
	if code != exitUnknown || strings.Contains(errs.String(), "dial tcp") {
		t.Errorf("exit code %d:\n%s", code, &errs)
	}
	for _, want := range []string{"no agent listens at " + address + "\n", "homeward-return-path-NODE -- /homeward-agent status", "--listen"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("no %q in\n%s", want, &errs)
		}
	}
}

func TestStatusOutputHasAShortFlag(t *testing.T) {
	agent := httptest.NewServer(newHandlers(lister{}).mux(true))
	defer agent.Close()
	address := strings.TrimPrefix(agent.URL, "http://")
	for _, flag := range []string{"-o", "--output"} {
		var out, errs bytes.Buffer
		code := runStatus(t.Context(), []string{"--listen=" + address, flag, "json"}, &out, &errs)
		if code != exitFailed || !strings.HasPrefix(out.String(), "{") { // no pass yet: not ready
			t.Errorf("%s: exit code %d\n%s%s", flag, code, &out, &errs)
		}
	}
}
