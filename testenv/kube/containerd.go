//go:build linux

package kube

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// containerd's configuration. Its directories are the usual ones, private to the
// machine.
const containerdConfig = `version = 2
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.internal.v1.opt", "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing"]
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "` + pauseImage + `"
  disable_apparmor = true
  disable_hugetlb_controller = true
  stream_server_address = "127.0.0.1"
  # Without CAP_SYS_RESOURCE, as in many containers, a pod may not lower its score.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = %q
    conf_dir = %q
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
`

// StartContainerd starts the machine's containerd, again after it was killed, and
// waits until it answers.
func (m *Machine) StartContainerd(ctx context.Context) error {
	plugins, err := m.configurePlugin()
	if err != nil {
		return err
	}
	if err := m.writeEtc("containerd.toml", fmt.Sprintf(containerdConfig, plugins, filepath.Dir(m.etc("x")))); err != nil {
		return err
	}
	if m.containerd, err = m.start("containerd", "containerd", "--config", m.etc("containerd.toml")); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return WaitFor(ctx, "containerd on "+m.Name, func(ctx context.Context) error {
		_, err := m.ctr(ctx, "version")
		return err
	})
}

// KillContainerd ends containerd as a crash does. Its pods go on.
func (m *Machine) KillContainerd() error { return m.containerd.Kill() }

// ImportImage gives the machine an image out of an archive.
func (m *Machine) ImportImage(ctx context.Context, archive string) error {
	_, err := m.ctr(ctx, "images", "import", archive)
	return err
}

// ctr runs containerd's client in the namespace of the kubelet's pods.
func (m *Machine) ctr(ctx context.Context, args ...string) ([]byte, error) {
	return m.mounts.Command(ctx, "ctr", append([]string{"-n", "k8s.io"}, args...)...).Output()
}

// endPods kills what runs in containers. The kubelet goes first, or it would
// start them again.
func (m *Machine) endPods() error {
	if m.kubelet != nil {
		if err := m.kubelet.Stop(); err != nil {
			return err
		}
	}
	if m.containerd == nil || m.containerd.Ended() {
		// What is left dies with the lab.
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return m.killTasks(ctx)
}

// killTasks kills what runs in containers until nothing does. The kubelet must not
// be there, or it would start them again.
func (m *Machine) killTasks(ctx context.Context) error {
	return WaitFor(ctx, "the end of the pods on "+m.Name, func(ctx context.Context) error {
		tasks, err := m.ctr(ctx, "tasks", "ls", "-q")
		if err != nil {
			return err
		}
		left := strings.Fields(string(tasks))
		for _, task := range left {
			// One that has just ended refuses, and is gone next time.
			_, _ = m.ctr(ctx, "tasks", "rm", "-f", task)
		}
		if len(left) > 0 {
			return fmt.Errorf("%d tasks are left", len(left))
		}
		return nil
	})
}
