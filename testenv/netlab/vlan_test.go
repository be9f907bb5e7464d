//go:build linux

package netlab_test

import (
	"strings"
	"testing"

	"homeward/testenv/netlab"
)

// What a VLAN does to the lab needs a kernel with 802.1Q: testenv/vm has it.
func TestVLANThatIsNone(t *testing.T) {
	netlab.Require(t)
	for _, value := range []string{"1", "4095", "-5", "vmbr0"} {
		t.Run(value, func(t *testing.T) {
			t.Setenv("HOMEWARD_NETLAB_VLAN", value)
			c, err := netlab.NewCluster(netlab.AnchorLayout)
			if err == nil {
				t.Error(c.Close())
			}
			if err == nil || !strings.Contains(err.Error(), value) {
				t.Errorf("error %v, want one with the number", err)
			}
		})
	}
}
