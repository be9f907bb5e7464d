//go:build linux

package kube

import (
	"os"
	"path/filepath"
	"testing"
)

// TestManifestDiffers holds what makes the lab wait for another static pod: one that is
// new or changed, and none that the kubelet has already.
func TestManifestDiffers(t *testing.T) {
	m := &Machine{root: t.TempDir()}
	for _, dir := range []string{"manifests", "etc"} {
		if err := os.Mkdir(filepath.Join(m.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what, text string, want bool) {
		t.Helper()
		if got, err := m.manifestDiffers(returnPathName, []byte(text)); err != nil || got != want {
			t.Errorf("%s: differs %t (%v), want %t", what, got, err, want)
		}
	}
	check("without a pod", "one", true)
	if err := m.WriteManifest(returnPathName, []byte("one")); err != nil {
		t.Fatal(err)
	}
	check("the same", "one", false)
	check("another", "two", true)
	if err := m.RemoveManifest(returnPathName); err != nil {
		t.Fatal(err)
	}
	check("removed", "one", true)
}
