package vm

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fakeQEMU keeps which NICs are plugged in, as QEMU does, and answers QMP.
type fakeQEMU struct {
	plugged map[string]bool
	// stubborn guests never let a NIC go.
	stubborn bool
	log      []string
}

func (f *fakeQEMU) serve(conn net.Conn) {
	fmt.Fprintln(conn, `{"QMP": {"version": {}, "capabilities": []}}`)
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		var c struct {
			Execute   string
			Arguments map[string]any
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			fmt.Fprintln(conn, `{"error": {"class": "GenericError", "desc": "no JSON"}}`)
			continue
		}
		f.log = append(f.log, fmt.Sprint(c.Execute, " ", c.Arguments))
		f.answer(conn, c.Execute, c.Arguments)
	}
}

func (f *fakeQEMU) answer(conn io.Writer, command string, arguments map[string]any) {
	id, _ := arguments["id"].(string)
	known := command != "device_del" && command != "device_add" || f.plugged[id] == (command == "device_del")
	if !known {
		fmt.Fprintf(conn, `{"error": {"class": "DeviceNotFound", "desc": "%s of %s"}}`+"\n", command, id)
		return
	}
	if command == "device_add" {
		f.plugged[id] = true
	}
	fmt.Fprintln(conn, `{"return": {}}`)
	if command == "device_del" && !f.stubborn {
		f.plugged[id] = false
		// The device's own event comes after one of its path, without a device.
		fmt.Fprintln(conn, `{"event": "DEVICE_DELETED", "data": {"path": "/machine/x/virtio-backend"}}`)
		fmt.Fprintf(conn, `{"event": "DEVICE_DELETED", "data": {"device": "%s", "path": "/x"}}`+"\n", id)
	}
}

// conversation gives the monitor's answers to the requests.
func conversation(t *testing.T, ctx context.Context, fake *fakeQEMU, requests ...string) []string {
	t.Helper()
	ours, theirs := net.Pipe()
	go fake.serve(theirs)
	q, err := newQMP(ctx, ours)
	if err != nil {
		t.Fatal(err)
	}
	guest, host := net.Pipe()
	served := make(chan error, 1)
	m := newMonitor(q, []NIC{{ID: "ext", MAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}}})
	go func() { served <- m.serve(ctx, host) }()
	var answers []string
	lines := bufio.NewScanner(guest)
	for _, r := range requests {
		fmt.Fprintln(guest, r)
		if !lines.Scan() {
			t.Fatalf("no answer to %q: %v", r, lines.Err())
		}
		answers = append(answers, lines.Text())
	}
	if err := guest.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := ours.Close(); err != nil {
		t.Error(err)
	}
	return answers
}

func TestMonitor(t *testing.T) {
	fake := &fakeQEMU{plugged: map[string]bool{"ext": true}}
	got := conversation(t, t.Context(), fake,
		"unplug ext", "unplug ext", "plug ext", "plug ext", "link ext down", "link ext up",
		"unplug other", "unplug", "link ext sideways", "explode ext")
	want := []string{
		"ok", "error unplugging ext: device_del: DeviceNotFound: device_del of ext",
		"ok", "error plugging ext: device_add: DeviceNotFound: device_add of ext",
		"ok", "ok",
		`error there is no NIC "other"`, `error request "unplug" has no NIC`,
		`error request "link ext sideways" is not known`, `error request "explode ext" is not known`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	commands := strings.Join(fake.log, "\n")
	for _, part := range []string{
		"mac:02:00:00:00:00:01 netdev:cable-ext", "set_link map[name:ext up:false]", "set_link map[name:ext up:true]",
	} {
		if !strings.Contains(commands, part) {
			t.Errorf("QEMU was never told %q:\n%s", part, commands)
		}
	}
}

func TestMonitorDoesNotWaitForEver(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	fake := &fakeQEMU{plugged: map[string]bool{"ext": true}, stubborn: true}
	got := conversation(t, ctx, fake, "unplug ext")
	if want := "error unplugging ext: the guest did not let it go"; !strings.HasPrefix(got[0], want) {
		t.Errorf("answer %q, want %q", got[0], want)
	}
}

func TestQMPSaysThatQEMUIsGone(t *testing.T) {
	ours, theirs := net.Pipe()
	go func() {
		_, _ = bufio.NewReader(theirs).ReadString('\n')
		_ = theirs.Close()
	}()
	if _, err := newQMP(t.Context(), ours); err == nil || !strings.Contains(err.Error(), "EOF") {
		t.Errorf("error %v, want the end of the connection", err)
	}
}
