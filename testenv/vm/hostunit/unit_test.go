//go:build linux

package hostunit

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"homeward/testenv/vm/guest"
)

const (
	unit    = "homeward-host"
	options = "/etc/default/homeward-host"
	metrics = "http://127.0.0.1:9466/metrics"
	// What the host of this machine has prepared: see testenv/vm's TestHostUnderSystemd.
	first, second = "/packages/first.deb", "/packages/second.deb"
	// soon is time to spare for a kernel whose processor is emulated.
	soon = 40 * time.Second
)

// The capabilities' bits, as /proc/PID/status has them.
const (
	netRaw         = "0000000000002000"
	netRawAndAdmin = "0000000000003000"
)

// does runs a command that must succeed, and gives what it printed.
func does(t *testing.T, line string) string {
	t.Helper()
	words := strings.Fields(line)
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", line, err, out, journal())
	}
	return strings.TrimSpace(string(out))
}

// property is what systemd knows of the unit.
func property(t *testing.T, name string) string {
	t.Helper()
	return does(t, "systemctl show --value --property "+name+" "+unit)
}

// journal is what the unit and systemd have said of it.
func journal() string {
	out, err := exec.Command("journalctl", "--no-pager", "--unit", unit).CombinedOutput()
	return fmt.Sprintf("journal (%v):\n%s", err, out)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s\n%s\n%s", soon, what, page(), journal())
		}
	}
}

// page is the agent's metrics, or why there are none.
func page() string {
	r, err := http.Get(metrics)
	if err != nil {
		return err.Error()
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// works holds that the agent asks on the segment and is answered: by the gateway,
// and by the guest whose name only the cluster's files have.
func works(t *testing.T) {
	t.Helper()
	eventually(t, "it sees the gateway and the stray guest", func() bool {
		p := page()
		return strings.Contains(p, "homeward_segment_path_proven 1\n") &&
			strings.Contains(p, `homeward_segment_address_strangers{address="203.0.113.75",use="ingress"} 1`) &&
			strings.Contains(p, `machine="stray"`)
	})
	if state := property(t, "ActiveState"); state != "active" {
		t.Errorf("it works and is %s", state)
	}
}

// confined holds that the process is as the unit says.
func confined(t *testing.T, capabilities string) {
	t.Helper()
	status, err := os.ReadFile("/proc/" + property(t, "MainPID") + "/status")
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]string{}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		has[name] = strings.TrimSpace(value)
	}
	const filtered = "2" // SECCOMP_MODE_FILTER
	for name, want := range map[string]string{
		"CapEff": capabilities, "CapPrm": capabilities, "CapBnd": capabilities, "NoNewPrivs": "1", "Seccomp": filtered,
	} {
		if has[name] != want {
			t.Errorf("%s is %q, want %q", name, has[name], want)
		}
	}
	if strings.HasPrefix(has["Uid"], "0\t") {
		t.Error("it is root")
	}
}

// there says whether a file is.
func there(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// TestPackage leads the package through its life, as the default file tells an
// operator to.
func TestPackage(t *testing.T) {
	guest.Require(t)
	does(t, "dpkg --install "+first)
	if state := property(t, "UnitFileState") + ", " + property(t, "ActiveState"); state != "disabled, inactive" {
		t.Errorf("installed, it is %s: it has nothing to watch yet", state)
	}
	for _, step := range []struct {
		name string
		do   func(*testing.T)
	}{
		{"a wrong command line is not tried again", wrongFlags},
		{"without the right to make the interface", mayNotMake},
		{"with it", makesInterface},
		{"with an interface that is there", usesInterface},
		{"upgraded while it runs", upgrade},
		{"removed and purged while it runs", remove},
	} {
		if !t.Run(step.name, step.do) {
			return // the next builds on it
		}
	}
}

func wrongFlags(t *testing.T) {
	kept, err := os.ReadFile(options)
	if err != nil {
		t.Fatal(err)
	}
	write(t, options, `HOMEWARD_HOST_FLAGS="--interface=vmbr0 --nonsense"`)
	// Type=exec: that it ends is not yet known then.
	does(t, "systemctl start "+unit)
	eventually(t, "it has failed", func() bool { return property(t, "ActiveState") == "failed" })
	if exit, again := property(t, "ExecMainStatus"), property(t, "NRestarts"); exit != "2" || again != "0" {
		t.Errorf("exit code %s, started again %s times", exit, again)
	}
	write(t, options, string(kept))
	does(t, "systemctl reset-failed "+unit)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mayNotMake(t *testing.T) {
	does(t, "systemctl start "+unit)
	eventually(t, "it says what it needs", func() bool { return strings.Contains(journal(), "CAP_NET_ADMIN") })
	does(t, "systemctl stop "+unit) // between two tries
}

const dropIns = "/etc/systemd/system/homeward-host.service.d"

func makesInterface(t *testing.T) {
	does(t, "mkdir -p "+dropIns)
	does(t, "ln -s /usr/share/homeward-host/net-admin.conf "+dropIns+"/")
	does(t, "systemctl daemon-reload")
	before := does(t, "bridge vlan show dev vmbr0")
	does(t, "systemctl start "+unit)
	works(t)
	confined(t, netRawAndAdmin)
	if !there("/sys/class/net/vmbr0.1691") {
		t.Error("it works without the interface that this is about")
	}
	does(t, "systemctl stop "+unit)
	if after := does(t, "bridge vlan show dev vmbr0"); there("/sys/class/net/vmbr0.1691") || after != before {
		t.Errorf("stopped, it left the interface or\n%s\nbefore:\n%s", after, before)
	}
	if state := property(t, "Result"); state != "success" {
		t.Errorf("it stopped with %s\n%s", state, journal())
	}
	does(t, "rm "+dropIns+"/net-admin.conf")
	does(t, "systemctl daemon-reload")
}

func usesInterface(t *testing.T) {
	for _, line := range []string{
		"ip link add link vmbr0 name vmbr0.1691 type vlan id 1691",
		"ip link set vmbr0.1691 up",
		"bridge vlan add dev vmbr0 vid 1691 self",
		"systemctl enable --now " + unit,
	} {
		does(t, line)
	}
	works(t)
	confined(t, netRaw)
}

func upgrade(t *testing.T) {
	before := property(t, "MainPID")
	does(t, "dpkg --install "+second)
	works(t)
	if now := property(t, "MainPID"); now == before {
		t.Error("the old version still runs")
	}
}

func remove(t *testing.T) {
	process := "/proc/" + property(t, "MainPID")
	does(t, "mkdir -p "+dropIns)
	does(t, "ln -s /usr/share/homeward-host/net-admin.conf "+dropIns+"/")
	does(t, "dpkg --remove "+unit)
	if there(process) || there("/etc/systemd/system/multi-user.target.wants/"+unit+".service") {
		t.Errorf("removed, it runs %v, or is still enabled", there(process))
	}
	if !there(options) {
		t.Error("removing took what the operator had set: that is for purge")
	}
	does(t, "dpkg --purge "+unit)
	for _, name := range []string{options, dropIns, "/usr/bin/homeward-agent", "/usr/lib/systemd/system/" + unit + ".service", "/usr/share/homeward-host"} {
		if there(name) {
			t.Errorf("purged, and %s is still there", name)
		}
	}
	if state := property(t, "LoadState"); state != "not-found" {
		t.Errorf("purged, the unit is %s", state)
	}
}
