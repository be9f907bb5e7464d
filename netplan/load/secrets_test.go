package load

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEncryptedValues(t *testing.T) {
	const cipher = `"ENC[AES256_GCM,data:c2VjcmV0,iv:x,tag:y,type:str]"`
	t.Run("one", func(t *testing.T) {
		got := mistakes(t, with(t, read(t, "seed.yaml"), "cidr: 203.0.113.0/25", "cidr: "+cipher))
		if diff := cmp.Diff([]string{"18: proxmox.network.external.cidr: the value is encrypted: decrypt the file first (sops -d)"}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a whole file", func(t *testing.T) {
		var lines []string
		for _, line := range strings.Split(read(t, "seed.yaml"), "\n") {
			if key, value, ok := strings.Cut(line, ": "); ok && !strings.ContainsAny(value, "{[") {
				line = key + ": " + cipher
			}
			lines = append(lines, strings.ReplaceAll(line, "10.0.0.1]", cipher+"]"))
		}
		got := mistakes(t, strings.Join(lines, "\n"))
		if diff := cmp.Diff([]string{"1: name: the value is encrypted: decrypt the file first (sops -d); so are 11 more"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSecretsNeverAppear(t *testing.T) {
	const secret = "hunter2"
	seed, cloud := read(t, "seed.yaml"), read(t, "openstack.yaml")
	for name, file := range map[string]string{
		"in Keystone's URL":        with(t, cloud, "https://", "https://admin:"+secret+"@"),
		"in a broken Keystone URL": with(t, cloud, "https://openstack", "admin:"+secret+"@%zz"),
		"in Keystone's query":      with(t, cloud, "/v3", "/v3?password="+secret),
		"an application's":         with(t, cloud, "openstack:\n", "openstack:\n  application_credential_secret: "+secret+"\n"),
		"unknown, on OpenStack":    with(t, cloud, "openstack:\n", "openstack:\n  os_password: "+secret+"\n"),
		"password":                 with(t, seed, "proxmox:\n", "proxmox:\n  password: "+secret+"\n"),
		"token":                    with(t, seed, "proxmox:\n", "proxmox:\n  token_secret: {a: "+secret+"}\n"),
		"in the URL":               with(t, seed, "https://", "https://root:"+secret+"@"),
		"in a broken URL":          with(t, seed, "https://pve", "root:"+secret+"@%zz"),
		"in the endpoint":          seed + "kubeapi_endpoint: https://root:" + secret + "@api.example.edu\n",
		"unknown, strict":          with(t, seed, "vlan: 1691", "password: "+secret),
		"unknown, lenient":         with(t, seed, "proxmox:\n", "proxmox:\n  passwrod: "+secret+"\n"),
		"as an alias":              with(t, seed, "proxmox:\n", "proxmox:\n  password: *"+secret+"\n"),
		"in itself":                with(t, seed, "proxmox:\n", "proxmox:\n  password: &"+secret+" [*"+secret+"]\n"),
		"as a tag":                 with(t, seed, "name: edge", "name: !"+secret+" edge"),
		"as a core tag":            with(t, seed, "vlan: 1691", "vlan: !!"+secret+" 1691"),
		"a tag of a file":          "!" + secret + " x",
		"a tag of a key":           with(t, seed, "name: edge", "name: edge\nnetwork: {!"+secret+" [a]: b}"),
		"a merged tag":             with(t, seed, "vlan: 1691", "<<: !"+secret+" x"),
		"as the scheme":            with(t, seed, "https://", secret+"://"),
		"in the port":              with(t, seed, "pve.example.edu:8006", "pve.example.edu:"+secret),
		"in the image":             seed + "agent: {image: 'u:" + secret + "@registry.example.edu/x'}\n",
		"in a digest":              seed + "agent: {image: 'u:" + secret + "@registry.example.edu/x@sha256:abc'}\n",
		"behind the image":         seed + "agent: {image: 'registry.example.edu/x@" + secret + "'}\n",
		"in a URL's image":         seed + "agent: {image: 'https://u:" + secret + "@registry.example.edu/x'}\n",
		"in a SAN":                 seed + "kubeapi_sans: ['root:" + secret + "@api.example.edu']\n",
		"unused":                   seed + "vault: " + secret + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Bytes("cluster.yaml", []byte(file))
			all := fmt.Sprint(err)
			if r != nil {
				plan, jsonErr := json.Marshal(r.Plan)
				if jsonErr != nil {
					t.Fatal(jsonErr)
				}
				all += string(plan) + fmt.Sprint(r.Unused)
			}
			if strings.Contains(all, secret) {
				t.Errorf("the secret appears: %s", all)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	file := with(t, read(t, "moved.yaml"), "    vlan: 1691\n", "    vlan: 1691\n    mtu: 9000\n")
	file = with(t, file, "proxmox:\n", "proxmox:\n  token_id: x\n  dhcp_ranges: [203.0.113.100]\n")
	file = with(t, file, "controlplane: {count: 3}", "controlplane: {count: 2}")
	file = with(t, file, "workers: {worker: {count: 3}}\n", "")
	var got []string
	for _, w := range mustLoad(t, file).Plan.Warnings {
		got = append(got, fmt.Sprintf("%d %s: %.40s", w.Line, w.Path, w.Message))
	}
	want := []string{
		"4 controlplane.count: 2 control planes survive no more failure",
		"10 network.external.mtu: 9000 bytes: the bridge, every switch and",
		"0 workers: no worker: control planes announce the p",
		"17 proxmox.token_id: is not read here: credentials belong in ",
		"18 proxmox.dhcp_ranges: is not read here: it belongs at proxmox.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
