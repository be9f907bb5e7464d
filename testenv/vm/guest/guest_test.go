//go:build linux

package guest_test

import (
	"strings"
	"testing"

	"homeward/testenv/vm/guest"
)

// recorder is a test that remembers how it was ended.
type recorder struct {
	guest.TB
	skipped bool
}

func (r *recorder) Helper()     {}
func (r *recorder) Skip(...any) { r.skipped = true }

func TestRequire(t *testing.T) {
	for value, skips := range map[string]bool{"": true, "1": false} {
		t.Run("guest="+value, func(t *testing.T) {
			t.Setenv("HOMEWARD_VM_GUEST", value)
			r := &recorder{}
			guest.Require(r)
			if r.skipped != skips {
				t.Errorf("skipped: %v, want %v", r.skipped, skips)
			}
		})
	}
}

func TestMACsDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, nic := range []string{guest.Uplink, guest.Partner, guest.Alone, guest.External, guest.Port} {
		mac := guest.MAC(nic).String()
		if other, ok := seen[mac]; ok {
			t.Errorf("%s and %s are both %s", nic, other, mac)
		}
		seen[mac] = nic
	}
}

func TestHostRefusesWhatItCannotDo(t *testing.T) {
	guest.Require(t)
	r := &fatalRecorder{}
	guest.Unplug(r, "no-such-nic")
	if !strings.Contains(r.text, "no-such-nic") {
		t.Errorf("the host's answer %q does not name the NIC", r.text)
	}
}

// fatalRecorder is a test that remembers why it failed.
type fatalRecorder struct {
	guest.TB
	text string
}

func (r *fatalRecorder) Helper() {}
func (r *fatalRecorder) Fatal(args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok {
			r.text += err.Error()
		}
	}
}
