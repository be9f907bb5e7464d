package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"homeward/netplan"
)

// theSecret must never be seen in any output.
const theSecret = "7f3a9c52-hunter2-4d1e-9b7a-2c8e5f60d114"

const goodSecrets = "proxmox:\n  token_id: homeward@pve!homeward\n  token_secret: " + theSecret + "\n"

// cluster makes a directory with a secrets.yaml and gives the path of the
// cluster.yaml beside it. Without text there is none.
func cluster(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if text != "" {
		if err := os.WriteFile(filepath.Join(dir, SecretsFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "cluster.yaml")
}

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestAccess(t *testing.T) {
	spec := netplan.ProxmoxSpec{URL: "https://pve.example.edu:8006", TLSVerify: "ca.pem", Fingerprint: "AA"}
	for name, c := range map[string]struct {
		file string
		env  []string
		want netplan.ProxmoxAccess // TLSVerify relative to the directory, TokenSecret apart
		key  string
	}{
		"the file": {goodSecrets, nil, netplan.ProxmoxAccess{
			ProxmoxSpec: netplan.ProxmoxSpec{URL: "https://pve.example.edu:8006", TLSVerify: "DIR/ca.pem", Fingerprint: "AA"}, TokenID: "homeward@pve!homeward"}, theSecret},
		"other tools' sections": {"sops_version: 3\nvault: {a: b}\n" + goodSecrets, nil, netplan.ProxmoxAccess{
			ProxmoxSpec: netplan.ProxmoxSpec{URL: "https://pve.example.edu:8006", TLSVerify: "DIR/ca.pem", Fingerprint: "AA"}, TokenID: "homeward@pve!homeward"}, theSecret},
		"the environment alone": {"", []string{EnvTokenID, "a@pam!b1", EnvTokenSecret, "s3cret"}, netplan.ProxmoxAccess{
			ProxmoxSpec: netplan.ProxmoxSpec{URL: "https://pve.example.edu:8006", TLSVerify: "DIR/ca.pem", Fingerprint: "AA"}, TokenID: "a@pam!b1"}, "s3cret"},
		"the environment over a broken file": {"[", []string{EnvTokenID, "a@pam!b1", EnvTokenSecret, "s3cret"}, netplan.ProxmoxAccess{
			ProxmoxSpec: netplan.ProxmoxSpec{URL: "https://pve.example.edu:8006", TLSVerify: "DIR/ca.pem", Fingerprint: "AA"}, TokenID: "a@pam!b1"}, "s3cret"},
		"half from each": {goodSecrets, []string{EnvTokenID, "a@pam!b1"}, netplan.ProxmoxAccess{
			ProxmoxSpec: netplan.ProxmoxSpec{URL: "https://pve.example.edu:8006", TLSVerify: "DIR/ca.pem", Fingerprint: "AA"}, TokenID: "a@pam!b1"}, theSecret},
		"another server": {goodSecrets, []string{EnvURL, "https://127.0.0.1:18006", EnvCAFile, "lab/ca.pem"}, netplan.ProxmoxAccess{
			ProxmoxSpec: netplan.ProxmoxSpec{URL: "https://127.0.0.1:18006", TLSVerify: "lab/ca.pem"}, TokenID: "homeward@pve!homeward"}, theSecret},
	} {
		t.Run(name, func(t *testing.T) {
			path := cluster(t, c.file)
			got, warnings, err := Access(path, &spec, environment(c.env...))
			if err != nil || len(warnings) > 0 {
				t.Fatal(err, warnings)
			}
			if got.TokenSecret.Reveal() != c.key {
				t.Errorf("the secret is not the one given")
			}
			got.TokenSecret = netplan.Secret{}
			got.TLSVerify = strings.ReplaceAll(got.TLSVerify, filepath.Dir(path), "DIR")
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(netplan.Secret{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAccessFaults(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		env  []string
		want string
	}{
		"no file":                {"", nil, "is missing: write the token there"},
		"no file, half a token":  {"", []string{EnvTokenID, "a@pam!b1"}, "is missing: write the token there"},
		"an empty file":          {"# nothing\n", nil, "1: the file is empty: give proxmox with token_id and token_secret"},
		"a list":                 {"- a\n", nil, "1: the file is a list, not a map: start with `proxmox:`"},
		"another file":           {"cluster: {id: x}\nsecrets: {bootstraptoken: " + theSecret + "}\n", nil, "1: proxmox: is missing: give proxmox with token_id and token_secret"},
		"no secret":              {"proxmox:\n  token_id: a@pam!b1\n", nil, "1: proxmox.token_secret: is missing"},
		"no id":                  {"a: b\nproxmox:\n  token_secret: " + theSecret + "\n", nil, "2: proxmox.token_id: is missing"},
		"an encrypted file":      {"proxmox:\n  token_id: ENC[AES256_GCM,data:x]\n  token_secret: ENC[AES256_GCM,data:y]\nsops: {}\n", nil, "2: proxmox.token_id: the value is encrypted: decrypt the file first (sops -d); so is 1 more"},
		"an unknown key":         {goodSecrets + "  password: " + theSecret + "\n", nil, "4: proxmox.password: unknown key: known here are token_id, token_secret"},
		"the secret as a key":    {goodSecrets + "  " + theSecret + ": 1\n", nil, "unknown key: known here are token_id, token_secret"},
		"a misspelt key":         {strings.Replace(goodSecrets, "token_secret", "token_secert", 1), nil, "3: proxmox.token_secert: unknown key: did you mean token_secret?"},
		"a misspelt section":     {strings.Replace(goodSecrets, "proxmox", "promxox", 1), nil, "1: promxox: unknown key: did you mean proxmox?"},
		"twice":                  {goodSecrets + "  token_secret: x\n", nil, "4: proxmox.token_secret: "},
		"no map":                 {"proxmox: " + theSecret + "\n", nil, "1: proxmox: is text: give a map of its keys"},
		"a user":                 {"proxmox: {token_id: root@pam, token_secret: x}\n", nil, "proxmox.token_id: is not a token's name, for it has no !"},
		"no realm":               {"proxmox: {token_id: root!x1, token_secret: x}\n", nil, "proxmox.token_id: is not a token's name, for it has no realm"},
		"id and secret in one":   {"proxmox: {token_id: 'a@pam!b1=" + theSecret + "', token_secret: x}\n", nil, "proxmox.token_id: holds more than the token's name"},
		"the secret as id":       {"proxmox: {token_id: " + theSecret + ", token_secret: x}\n", nil, "proxmox.token_id: is not a token's name"},
		"a list as secret":       {"proxmox: {token_id: a@pam!b1, token_secret: [" + theSecret + "]}\n", nil, "proxmox.token_secret: is a list"},
		"a number as secret":     {"proxmox: {token_id: a@pam!b1, token_secret: 20260101}\n", nil, "proxmox.token_secret: is a number: give text, in quotes"},
		"a line's end":           {"proxmox:\n  token_id: a@pam!b1\n  token_secret: |\n    " + theSecret + "\n", nil, "proxmox.token_secret: holds a space or a line's end"},
		"a space":                {"proxmox: {token_id: a@pam!b1, token_secret: ' " + theSecret + "'}\n", nil, "proxmox.token_secret: holds a space or a line's end"},
		"a letter of no secret":  {"proxmox: {token_id: a@pam!b1, token_secret: '" + theSecret + "ü'}\n", nil, "proxmox.token_secret: holds a character that no secret has"},
		"no value":               {"proxmox: {token_id: a@pam!b1, token_secret: }\n", nil, "proxmox.token_secret: has no value"},
		"an alias":               {"proxmox: {token_id: a@pam!b1, token_secret: *" + theSecret + "}\n", nil, "an alias (*) here has no anchor"},
		"a secret from outside":  {"", []string{EnvTokenID, "a@pam!b1", EnvTokenSecret, theSecret + "\n"}, EnvTokenSecret + " holds a space or a line's end"},
		"an id from outside":     {"", []string{EnvTokenID, theSecret, EnvTokenSecret, "x"}, EnvTokenID + " is not a token's name"},
		"http":                   {goodSecrets, []string{EnvURL, "http://pve:8006"}, EnvURL + " is not https"},
		"credentials in the URL": {goodSecrets, []string{EnvURL, "https://root:" + theSecret + "@pve:8006"}, EnvURL + " carries credentials"},
		"no URL":                 {goodSecrets, []string{EnvURL, theSecret}, EnvURL + " is not a URL"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := netplan.ProxmoxSpec{URL: "https://pve.example.edu:8006"}
			got, _, err := Access(cluster(t, c.file), &spec, environment(c.env...))
			if err == nil {
				t.Fatalf("accepted: %+v", got)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, want it to hold %q", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the secret appears: %v", err)
			}
			if got.TokenID != "" || !got.TokenSecret.Empty() {
				t.Errorf("a credential comes with an error")
			}
		})
	}
	t.Run("no address at all", func(t *testing.T) {
		_, _, err := Access(cluster(t, goodSecrets), nil, environment())
		if err == nil || !strings.Contains(err.Error(), EnvURL) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAccessOfReadableFile(t *testing.T) {
	path := cluster(t, goodSecrets)
	file := filepath.Join(filepath.Dir(path), SecretsFile)
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	_, warnings, err := Access(path, &netplan.ProxmoxSpec{URL: "https://pve:8006"}, environment())
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Message, "chmod 600") {
		t.Errorf("got %v, %v", warnings, err)
	}
}

func TestSecretIsNeverPrinted(t *testing.T) {
	a := netplan.ProxmoxAccess{TokenID: "a@pam!b1", TokenSecret: netplan.NewSecret(theSecret)}
	hidden := struct{ a netplan.ProxmoxAccess }{a}
	var all strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%t"} {
		fmt.Fprintf(&all, verb+verb+verb+verb+"\n", a, &a, a.TokenSecret, hidden)
	}
	asJSON, err1 := json.Marshal(a)
	asYAML, err2 := yaml.Marshal(a)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&all, string(asJSON), string(asYAML), a.TokenSecret.LogValue(), fmt.Errorf("with %v", a), hidden)
	for _, form := range []string{theSecret, fmt.Sprintf("%x", theSecret), fmt.Sprintf("%X", theSecret), "hunter2"} {
		if strings.Contains(all.String(), form) {
			t.Errorf("the secret appears: %s", all.String())
		}
	}
	if netplan.NewSecret(theSecret).Reveal() != theSecret {
		t.Error("and cannot be used either")
	}
}
