//go:build linux

package kube_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"homeward/testenv/kube"
)

func TestMain(m *testing.M) { os.Exit(kube.Main(m)) }

// wanted skips a test of the lab unless `make e2e` runs it.
func wanted(t *testing.T) {
	t.Helper()
	if !kube.Wanted() {
		t.Skipf("real Kubernetes needs root and a long build: `make e2e` runs it (%s=1)", kube.WantedVariable)
	}
}

func newLab(t *testing.T) *kube.Lab { return newLabWith(t, kube.PluginPTP, "logs") }

// newLabWith makes a lab whose pods a plugin connects, with its logs in a directory of
// their own.
func newLabWith(t *testing.T, plugin kube.NetworkPlugin, logs string) *kube.Lab {
	t.Helper()
	wanted(t)
	repository, err := filepath.Abs(filepath.Join("..", ".."))
	must(t, err)
	l, err := kube.New(within(t, 10*time.Minute), kube.Options{
		Repository: repository, Logs: filepath.Join(repository, "out", "e2e", logs), Plugin: plugin, Progress: os.Stderr,
	})
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(l.LogTails(12))
		}
		must(t, l.Close())
	})
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// within gives a context that ends with the test or after a time.
func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}
