//go:build linux

package kube_test

import (
	"testing"

	"homeward/testenv/kube"
	"homeward/testenv/netlab"
)

// TestFlannel asks the matrix where flannel connects the pods, as on a Talos node that
// nobody told otherwise: replies of pods elsewhere come out of its tunnel, and its rules
// stand beside ours. flanneld is restarted, into its other mode too, under load.
func TestFlannel(t *testing.T) {
	l := newLabWith(t, kube.PluginFlannel, "logs-flannel")
	restart := func(mode kube.FlannelMode) func() {
		return func() {
			must(t, l.StopFlannel())
			must(t, l.StartFlannel(t.Context(), mode))
		}
	}
	t.Run("no request is answered without the product's pod", func(t *testing.T) {
		judge(t, l, netlab.PathPrivate)
	})
	t.Run("the agent", func(t *testing.T) {
		must(t, l.InstallReturnPath(t.Context(), kube.AgentPod))
		judge(t, l, netlab.PathExternal)
	})
	t.Run("flanneld restarted", func(t *testing.T) {
		noReplyLost(t, l, restart(kube.FlannelIPTables))
		judge(t, l, netlab.PathExternal)
	})
	t.Run("flanneld restarted with nftables", func(t *testing.T) {
		noReplyLost(t, l, restart(kube.FlannelNFTables))
		judge(t, l, netlab.PathExternal)
	})
	t.Run("the nft pod", func(t *testing.T) {
		noReplyLost(t, l, func() { must(t, l.InstallReturnPath(t.Context(), kube.NFTPod)) })
		judge(t, l, netlab.PathExternal)
	})
	t.Run("the nft pod, flanneld restarted", func(t *testing.T) {
		noReplyLost(t, l, restart(kube.FlannelIPTables))
		judge(t, l, netlab.PathExternal)
	})
	t.Run("cleaned up", func(t *testing.T) {
		must(t, l.RemoveReturnPath(t.Context()))
		judge(t, l, netlab.PathPrivate)
	})
}
