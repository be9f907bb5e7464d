// Command deb builds the Debian package homeward-host from a binary of the agent,
// without root and without Debian's tools. It prints the file that it wrote. The
// same input gives the same bytes.
//
// It is a module of its own: what it needs to write a package stays out of the
// product's go.mod.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

func main() {
	var o options
	flag.StringVar(&o.agent, "agent", "", "the agent's binary")
	flag.StringVar(&o.files, "files", "../../cmd/homeward-agent/packaging", "what else is in the package")
	flag.StringVar(&o.license, "license", "../../LICENSE", "the license's text")
	flag.StringVar(&o.arch, "arch", "amd64", "Debian's name of the binary's architecture")
	flag.StringVar(&o.version, "version", "", "the version, as git describe gives it")
	flag.StringVar(&o.committed, "committed", "", "when the commit was made, as YYYYMMDDHHMMSS in UTC; sorts versions without a tag")
	flag.StringVar(&o.out, "out", ".", "the directory for the package")
	flag.Parse()
	name, err := o.build()
	if err != nil {
		fmt.Fprintln(os.Stderr, "deb:", err)
		os.Exit(1)
	}
	fmt.Println(name)
}

// packageName is Debian's.
const packageName = "homeward-host"

// options say what goes into a package.
type options struct{ agent, files, license, arch, version, committed, out string }

// build writes the package and gives its name.
func (o options) build() (name string, err error) {
	if o.agent == "" {
		return "", errors.New("-agent is missing: give a static binary of homeward-agent")
	}
	version, err := debVersion(o.version, o.committed)
	if err != nil {
		return "", err
	}
	info := nfpm.WithDefaults(o.info(version))
	if err := nfpm.Validate(info); err != nil {
		return "", fmt.Errorf("describing the package: %w", err)
	}
	name = filepath.Join(o.out, deb.Default.ConventionalFileName(info))
	f, err := os.Create(name)
	if err != nil {
		return "", err
	}
	if err := errors.Join(deb.Default.Package(info, f), f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("writing %s: %w", name, err), os.Remove(name))
	}
	return name, nil
}

func (o options) info(version string) *nfpm.Info {
	// What the files were on the machine that built it is nobody's business.
	built := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	file := func(source, destination, kind string, mode os.FileMode) *files.Content {
		return &files.Content{
			Source: source, Destination: destination, Type: kind,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: built},
		}
	}
	ours := func(name string) string { return filepath.Join(o.files, name) }
	return &nfpm.Info{
		Name: packageName, Arch: o.arch, Platform: "linux", Version: version, VersionSchema: "none",
		Section: "net", Priority: "optional", Maintainer: "Homeward <homeward@example.invalid>", MTime: built, DisableGlobbing: true,
		Description: "watches who answers on a segment's ingress addresses\n" +
			"Runs on a Proxmox VE host. Probes and watches by ARP who has the planned\n" +
			"addresses of a Talos cluster, when one takes over from another, and\n" +
			"whether a stranger answers.",
		Overridables: nfpm.Overridables{
			Contents: files.Contents{
				file(o.agent, "/usr/bin/homeward-agent", files.TypeFile, 0o755),
				file(ours("homeward-host.service"), "/usr/lib/systemd/system/homeward-host.service", files.TypeFile, 0o644),
				file(ours("net-admin.conf"), "/usr/share/homeward-host/net-admin.conf", files.TypeFile, 0o644),
				file(ours("homeward-host.default"), "/etc/default/homeward-host", files.TypeConfigNoReplace, 0o644),
				file("", "/etc/homeward", files.TypeDir, 0o755),
				file(o.license, "/usr/share/doc/homeward-host/copyright", files.TypeFile, 0o644),
			},
			Scripts: nfpm.Scripts{PostInstall: ours("postinst.sh"), PreRemove: ours("prerm.sh"), PostRemove: ours("postrm.sh")},
		},
	}
}
