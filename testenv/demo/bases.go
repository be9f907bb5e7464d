package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"

	"homeward/netplan/load"
)

// writeBases makes what `talosctl gen config` makes, with throw-away secrets, and
// gives the paths as --base takes them.
func writeBases(dir, planFile string) (string, error) {
	result, err := load.File(planFile)
	if err != nil {
		return "", err
	}
	p := result.Plan
	contract, err := config.ParseContractFromVersion(p.Talos.Version)
	if err != nil {
		return "", fmt.Errorf("reading the version: %w", err)
	}
	in, err := generate.NewInput(p.Name, p.KubeAPI.Endpoint, strings.TrimPrefix(p.Kubernetes.Version, "v"),
		generate.WithVersionContract(contract), generate.WithInstallDisk("/dev/sda"))
	if err != nil {
		return "", fmt.Errorf("making secrets: %w", err)
	}
	var paths []string
	for _, role := range []machine.Type{machine.TypeControlPlane, machine.TypeWorker} {
		cfg, err := in.Config(role)
		if err != nil {
			return "", fmt.Errorf("making the %s config: %w", role, err)
		}
		text, err := cfg.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
		if err != nil {
			return "", fmt.Errorf("encoding the %s config: %w", role, err)
		}
		path := filepath.Join(dir, role.String()+".yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return "", err
		}
		paths = append(paths, path)
	}
	return strings.Join(paths, ","), nil
}
