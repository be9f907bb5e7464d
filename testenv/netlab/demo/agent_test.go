//go:build linux

package demo

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/netlab"
)

func TestAgentLine(t *testing.T) {
	n := &netlab.Node{ExternalMAC: []byte{2, 0, 0, 0, 14, 1}}
	want := []string{
		"homeward-agent", "node", "--external-mac=02:00:00:00:0e:01", "--cidr=203.0.113.0/24", "--gateway=203.0.113.1",
		"--vip=203.0.113.74", "--destinations=203.0.113.74-203.0.113.79", "--routes=check", "--listen=0", "--resync=1s",
	}
	if diff := cmp.Diff(want, Agent("homeward-agent", "--resync=1s").Command(n)); diff != "" {
		t.Errorf("command line (-want +got):\n%s", diff)
	}
}
