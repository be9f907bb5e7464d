//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"homeward/agent/returnpath"
	"homeward/testenv/netlab"
)

// envRights makes the test binary give up every right but these capabilities, by
// their numbers, before it becomes the agent, as the container runtime does.
const envRights = "HOMEWARD_AGENT_TEST_RIGHTS"

// lessenRights starts this program anew with fewer rights. A process of root gets at
// its start all that its bounding set allows.
func lessenRights(keep string) error {
	runtime.LockOSThread()
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		if strings.Contains(","+keep+",", ","+strconv.Itoa(int(c))+",") {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return fmt.Errorf("giving up capability %d: %w", c, err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Unsetenv(envRights); err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, os.Environ())
}

// TestFewRightsAreEnough runs the agent with the capabilities of the generated pod,
// and without NET_RAW, which ARP alone needs.
func TestFewRightsAreEnough(t *testing.T) {
	for name, tt := range map[string]struct {
		keep, effective string
		asks            bool // the gateway, on the wire
	}{
		"NET_ADMIN and NET_RAW": {fmt.Sprintf("%d,%d", unix.CAP_NET_ADMIN, unix.CAP_NET_RAW), "0000000000003000", true},
		"NET_ADMIN alone":       {strconv.Itoa(unix.CAP_NET_ADMIN), "0000000000001000", false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if tt.asks {
				b.do(b.SetGatewayARP(netlab.IgnoresOffSubnet))
			}
			t.Setenv(envRights, tt.keep)
			p := b.startNode(b.flags("--routes=manage", "--resync=1h")...)
			s := p.await("the gateway looked for", func(s returnpath.Status) bool { return s.Passes > 0 && s.Gateway.Known })
			if s.Gateway.ProbeOnly != tt.asks || (s.Gateway.Error == "") != tt.asks {
				t.Errorf("gateway %+v", s.Gateway)
			}
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
			if err != nil || !strings.Contains(string(status), "CapEff:\t"+tt.effective+"\n") {
				t.Fatalf("the agent has other rights, error %v:\n%s", err, status)
			}
			b.allHome()
			load := b.startLoads()
			b.do(b.node.FlushRuleset())
			b.do(b.node.DeleteRule(netlab.Rule{Priority: 1001, Mark: 0x2000, Mask: 0x2000, Table: 251}))
			p.await("repaired", func(s returnpath.Status) bool {
				return s.Repairs["nft_table"] > 0 && s.Repairs["ip_rule"] > 0
			})
			load.stop()
			b.allHome()
		})
	}
}
