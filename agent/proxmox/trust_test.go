package proxmox

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeward/netplan"
)

func TestTrust(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, `{"data":[]}`) })
	stranger := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request came to a host that is not trusted") })
	pin := s.access().Fingerprint
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	go http.Serve(plain, http.NotFoundHandler())
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	at := func(url, verify, pin string) netplan.ProxmoxSpec {
		return netplan.ProxmoxSpec{URL: url, TLSVerify: verify, Fingerprint: pin}
	}
	for name, c := range map[string]struct {
		spec    netplan.ProxmoxSpec
		class   string
		text    string
		warning bool
	}{
		"pinned":               {at(s.URL, "", pin), "done", "", false},
		"pinned in lower case": {at(s.URL+"/", "true", strings.ToLower(pin)), "done", "", false},
		"pinned, not verified": {at(s.URL, "false", pin), "done", "", false},
		"with the API's path":  {at(s.URL+"/api2/json/", "", pin), "done", "", false},
		"by its CA":            {at(s.URL, s.caFile(t), ""), "done", "", false},
		"not at all":           {at(s.URL, "false", ""), "done", "", true},
		"by the system":        {at(s.URL, "", ""), "refused", "signed by nobody we know", false},
		"another pin":          {at(stranger.URL, "", strings.Repeat("00:", 31)+"00"), "refused", "fingerprint " + pin, false},
		"no TLS":               {at("https://"+plain.Addr().String(), "", pin), "refused", "does not speak TLS", false},
		"nobody there":         {at("https://"+closed.Addr().String(), "", pin), "busy", "nothing listens", false},
		"another name":         {at(strings.Replace(s.URL, "127.0.0.1", "localhost", 1), s.caFile(t), ""), "refused", "is for another name", false},
		"a name that is not":   {at("https://no-such-host.invalid:8006", "", pin), "busy", "was not found", false},
	} {
		t.Run(name, func(t *testing.T) {
			s.output.Reset()
			client := s.client(t, func(o *Options) { o.Access.ProxmoxSpec = c.spec })
			err := client.Post(t.Context(), "/x", nil, nil)
			if class(err) != c.class || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: %v", class(err), err)
			}
			if got := strings.Contains(s.output.String(), "is not verified"); got != c.warning {
				t.Errorf("warned: %v", got)
			}
		})
	}
}

func TestAccessThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := netplan.ProxmoxAccess{ProxmoxSpec: netplan.ProxmoxSpec{URL: "https://pve:8006"}, TokenID: "a@pam!b1", TokenSecret: netplan.NewSecret(theSecret)}
	for name, c := range map[string]struct {
		change func(*netplan.ProxmoxAccess)
		want   string
	}{
		"no URL":              {func(a *netplan.ProxmoxAccess) { a.URL = "" }, "no address of the Proxmox API"},
		"http":                {func(a *netplan.ProxmoxAccess) { a.URL = "http://pve:8006" }, "not https"},
		"credentials":         {func(a *netplan.ProxmoxAccess) { a.URL = "https://root:" + theSecret + "@pve:8006" }, "carries credentials"},
		"a query":             {func(a *netplan.ProxmoxAccess) { a.URL = "https://pve:8006?t=" + theSecret }, "query"},
		"no host":             {func(a *netplan.ProxmoxAccess) { a.URL = theSecret }, "not a URL"},
		"no token":            {func(a *netplan.ProxmoxAccess) { a.TokenID = "" }, "no token"},
		"no secret":           {func(a *netplan.ProxmoxAccess) { a.TokenSecret = netplan.Secret{} }, "no token"},
		"half a fingerprint":  {func(a *netplan.ProxmoxAccess) { a.Fingerprint = "AA:BB" }, "no SHA-256 fingerprint"},
		"a CA file's absence": {func(a *netplan.ProxmoxAccess) { a.TLSVerify = filepath.Join(dir, "none") }, "no such file"},
		"a CA file of text":   {func(a *netplan.ProxmoxAccess) { a.TLSVerify = write("text", theSecret) }, "holds no certificate"},
		"a key":               {func(a *netplan.ProxmoxAccess) { a.TLSVerify = write("key", "-----BEGIN PRIVATE KEY-----\n"+theSecret) }, "holds a key"},
		"a directory":         {func(a *netplan.ProxmoxAccess) { a.TLSVerify = dir }, "is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			a := good
			c.change(&a)
			_, err := New(Options{Access: a})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v", err)
			}
		})
	}
}
