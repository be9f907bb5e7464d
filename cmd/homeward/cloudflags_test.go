package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// noCloud sets no way to an OpenStack.
func noCloud(t *testing.T) {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "OS_") || strings.HasPrefix(name, "HOMEWARD_OPENSTACK_APPLICATION") {
			t.Setenv(name, "")
		}
	}
}

// What means nothing with the plan's provider is refused by name.
func TestFlagsOfTheOtherProvider(t *testing.T) {
	noCloud(t)
	onCloud, onProxmox := newCloud(t).file, planFile(t)
	for _, c := range []struct {
		file string
		args []string
		says string
	}{
		{onCloud, []string{"reserve", "--guests"}, "--guests is for Proxmox"},
		{onCloud, []string{"reserve", "--probe"}, "--probe is for Proxmox"},
		{onCloud, []string{"reserve", "--allow-partial"}, "--allow-partial is for Proxmox"},
		{onCloud, []string{"reserve", "--accept", "x"}, "--accept is for Proxmox"},
		{onCloud, []string{"reserve", "--wait", "2s"}, "--wait is for Proxmox"},
		{onCloud, []string{"status", "--live"}, "--live is for Proxmox"},
		{onCloud, []string{"release", "--local"}, "--local is for Proxmox"},
		{onProxmox, []string{"reserve", "--out", "x"}, "--out is for OpenStack"},
		{onProxmox, []string{"status", "--out", "x"}, "--out is for OpenStack"},
	} {
		got := homeward(t, append(c.args, "-f", c.file)...)
		if got.code != int(exitUsage) || !strings.Contains(got.err, c.says) || got.out != "" {
			t.Errorf("%q: exit %d: %s", c.args, got.code, got.err)
		}
	}
}

func TestACloudWithoutACredential(t *testing.T) {
	noCloud(t)
	c := newCloud(t)
	got := homeward(t, "reserve", "-f", c.file)
	if got.code != int(exitUsage) || !strings.Contains(got.err, "application_credential_id") || !strings.Contains(got.err, "OS_CLOUD") {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	t.Setenv("HOMEWARD_OPENSTACK_APPLICATION_CREDENTIAL_ID", "0123456789abcdef0123456789abcdef")
	got = homeward(t, "status", "-f", c.file)
	if got.code != int(exitUsage) || !strings.Contains(got.err, "no secret") {
		t.Errorf("with half of it: exit %d: %s", got.code, got.err)
	}
}

// A cloud that is not there, or is none, is unknown; one that says no has failed. A
// script finds the error where it looks for it, without the secret.
func TestACloudThatDoesNotAnswer(t *testing.T) {
	noCloud(t)
	const secret = "s3cr3t-of-the-credential"
	t.Setenv("HOMEWARD_OPENSTACK_APPLICATION_CREDENTIAL_ID", "0123456789abcdef0123456789abcdef")
	t.Setenv("HOMEWARD_OPENSTACK_APPLICATION_CREDENTIAL_SECRET", secret)
	for _, c := range []struct {
		name   string
		status int
		body   string
		kind   string
		code   exitCode
		says   string
	}{
		{"a web page", 200, "<html>Sign in</html>", "text/html", exitUnknown, "web page"},
		{"no", 401, `{"error": {"code": 401, "message": "echo ` + secret + `", "title": "Unauthorized"}}`, "application/json", exitFailed, "does not take the credential"},
		{"sent elsewhere", 302, "", "text/html", exitFailed, "elsewhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.Header().Set("Location", "https://elsewhere.example/")
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer server.Close()
			plan := newCloud(t, "https://openstack.example.edu:5000/v3", server.URL+"/v3")
			for _, args := range [][]string{{"status"}, {"reserve"}, {"reserve", "--dry-run"}, {"release"}} {
				got := homeward(t, append(args, "-f", plan.file, "-o", "json")...)
				var out struct{ Errors []struct{ Message string } }
				if err := json.Unmarshal([]byte(got.out), &out); err != nil || got.code != int(c.code) || len(out.Errors) != 1 || !strings.Contains(out.Errors[0].Message, c.says) {
					t.Errorf("%q: exit %d, want %d: %s", args, got.code, c.code, got.out)
				}
				if strings.Contains(got.out+got.err, secret) {
					t.Errorf("%q shows the secret", args)
				}
			}
		})
	}
}

func TestAReleaseWithoutAnOwner(t *testing.T) {
	noCloud(t)
	c := newCloud(t)
	if err := os.Remove(c.dir + "/homeward.id"); err != nil {
		t.Fatal(err)
	}
	got := homeward(t, "release", "-f", c.file)
	if got.code != int(exitUsage) {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}
