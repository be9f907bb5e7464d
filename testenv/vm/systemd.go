package vm

import (
	"errors"
	"os"
	"path"
	"path/filepath"

	"homeward/testenv/vm/wire"
)

// systemdDir is where systemd's programs lie, here and inside.
var systemdDir = path.Dir(wire.SystemdPath)

// orderUnit carries out the order. What it writes, which is little unless it fails,
// goes to the console, and so to whoever wonders why no result comes.
const orderUnit = `[Unit]
Description=the order of the test machine
[Service]
ExecStart=` + wire.InitPath + " " + wire.CarryOut + `
StandardOutput=journal+console
`

// orderTarget is what the machine starts.
const orderTarget = `[Unit]
Description=the test machine
Requires=basic.target order.service
Wants=systemd-journald.service
After=basic.target
`

// machineID stands for any; without one systemd would take this for a first boot.
const machineID = "686f6d6577617264686f6d6577617264\n"

// addSystemd puts this machine's systemd into the archive: the manager, the journal,
// the commands to speak to both, and the targets and slices that units hang on.
func addSystemd(a archive, from libraries) error {
	programs := []string{"systemd", "systemd-journald"}
	if _, err := os.Stat(path.Join(systemdDir, "systemd-executor")); err == nil {
		programs = append(programs, "systemd-executor") // since version 255
	}
	for _, name := range programs {
		file := path.Join(systemdDir, name)
		if err := a.addProgram(file, file, from); err != nil {
			return err
		}
	}
	err := errors.Join(a.addCommand("systemctl", from), a.addCommand("journalctl", from))
	for _, pattern := range []string{"*.target", "*.slice", "systemd-journald*"} {
		err = errors.Join(err, addUnits(a, pattern))
	}
	for name, text := range map[string]string{
		"/etc/machine-id":                   machineID,
		"/etc/systemd/system/order.service": orderUnit, "/etc/systemd/system/default.target": orderTarget,
	} {
		a.add(File{Name: name, Mode: 0o644, Content: []byte(text)})
	}
	return err
}

// addUnits adds units of this machine's; names that link to others are left out.
func addUnits(a archive, pattern string) error {
	found, err := filepath.Glob(path.Join(systemdDir, "system", pattern))
	if err != nil {
		return err
	}
	for _, file := range found {
		info, err := os.Lstat(file)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		a.add(File{Name: file, Mode: 0o644, Content: content})
	}
	return nil
}
