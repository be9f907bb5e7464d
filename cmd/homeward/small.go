package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"homeward/netplan"
	"homeward/netplan/load"
)

func (t *tool) initCommand() *cobra.Command {
	provider := string(netplan.Proxmox)
	cmd := &cobra.Command{
		Use:   "init",
		Short: "print a commented cluster.yaml to fill in",
		Long:  "Print a commented cluster.yaml with every key that the provider has, its meaning and its default. It is a valid plan as it stands: change the addresses to yours.",
		Example: `  homeward init > cluster.yaml
  homeward init --provider openstack > cluster.yaml`,
		RunE: func(*cobra.Command, []string) error {
			p := netplan.Provider(provider)
			if p != netplan.Proxmox && p != netplan.OpenStack {
				return usage("--provider %q is not known: give %s or %s", provider, netplan.Proxmox, netplan.OpenStack)
			}
			_, err := t.out.Write(load.Init(p))
			return err
		},
	}
	cmd.Flags().StringVar(&provider, "provider", provider, "who runs the machines: proxmox or openstack")
	return cmd
}

func (t *tool) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "print the JSON Schema of cluster.yaml for editors",
		Long: `Print the JSON Schema (draft 2020-12) of cluster.yaml, made from the same table
of keys that reads it. An editor with a YAML language server takes it from a
first line such as:

  # yaml-language-server: $schema=cluster.schema.json`,
		Example: "  homeward schema > cluster.schema.json",
		RunE: func(*cobra.Command, []string) error {
			text, err := load.Schema()
			if err != nil {
				return err
			}
			_, err = t.out.Write(text)
			return err
		},
	}
}

// version is set by the linker (-X main.version); a build without it says what
// Go knows of the module.
var version string

func (t *tool) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of this tool",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(t.out, toolVersion())
			return err
		},
	}
}

func toolVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
