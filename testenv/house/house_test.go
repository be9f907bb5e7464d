package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "homeward"

// rooms says which of our rooms each room may import in product code. The most
// specific name counts; "any" lifts the rule.
var rooms = map[string][]string{
	"netplan":                     {},
	"netplan/load":                {"netplan"},
	"talosgen":                    {"netplan", "talosgen"},
	"agent/returnpath":            {"netplan"},
	"agent/kernel":                {"netplan", "agent/returnpath"},
	"agent/segment":               {"netplan"},
	"agent/ledger":                {"netplan"},
	"agent/proxmox":               {"netplan", "agent/ledger"},
	"agent/pvefs":                 {"netplan", "agent/ledger"},
	"agent/openstack":             {"netplan", "agent/ledger"},
	"agent/probe":                 {},
	"cmd/homeward-agent":          {"netplan", "agent/returnpath", "agent/kernel", "agent/segment", "agent/pvefs", "agent/ledger"},
	"cmd/homeward-agent/internal": {"netplan", "agent/returnpath", "agent/kernel", "agent/segment", "agent/pvefs", "agent/ledger"},
	"cmd/homeward":                {"any"},
	"testenv":                     {"any"},
}

// only says where a library may be imported directly: nowhere else.
var only = map[string][]string{
	"github.com/google/nftables":             {"agent/kernel", "testenv/netlab"},
	"github.com/vishvananda/netlink":         {"agent/kernel", "testenv/netlab"},
	"github.com/vishvananda/netns":           {"agent/kernel", "testenv/netlab"},
	"github.com/luthermonson/go-proxmox":     {"agent/proxmox"},
	"github.com/gophercloud/gophercloud":     {"agent/openstack", "testenv/openstack"},
	"github.com/google/go-containerregistry": {"cmd/homeward"},
	"k8s.io/client-go":                       {"cmd/homeward/internal/report", "cmd/homeward/internal/verify"},
	"github.com/siderolabs/talos":            {"talosgen", "testenv", "cmd/homeward"},
}

// never says what a program must not pull in, however deep.
var never = map[string][]string{
	"cmd/homeward-agent": {"github.com/siderolabs/talos", "k8s.io", "sigs.k8s.io", "go.yaml.in/yaml", "gopkg.in/yaml.v", "github.com/goccy/go-yaml"},
	"netplan":            {"go.yaml.in/yaml", "gopkg.in/yaml.v", "net/http", "os/exec"},
}

// goPackage is what `go list -json` says of a package.
type goPackage struct {
	ImportPath, Dir string
	Doc             string
	Imports, Deps   []string
	GoFiles         []string
}

func (p goPackage) room() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,Imports,Deps,GoFiles", "./...")
	cmd.Dir = filepath.Join("..", "..")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var list []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if len(list) < 5 {
		t.Fatalf("go list found only %d packages: the rules see nothing", len(list))
	}
	return list
}

// within says that room is dir or lies below it.
func within(room, dir string) bool {
	return room == dir || strings.HasPrefix(room, dir+"/")
}

// ruleFor gives the most specific rule of a room.
func ruleFor(room string) (name string, ok bool) {
	for dir := room; ; dir = dir[:strings.LastIndexByte(dir, '/')] {
		if _, ok := rooms[dir]; ok {
			return dir, true
		}
		if !strings.Contains(dir, "/") {
			return "", false
		}
	}
}

func TestHouseRooms(t *testing.T) {
	for _, p := range packages(t) {
		rule, ok := ruleFor(p.room())
		if !ok {
			t.Errorf("%s is no room of the house: see the rooms in this test", p.room())
			continue
		}
		if p.Doc == "" {
			t.Errorf("package %s has no comment", p.room())
		}
		for _, imported := range p.Imports {
			other, ours := strings.CutPrefix(imported, module+"/")
			if ours && !mayImport(rule, other) {
				t.Errorf("%s imports %s: it may import %v", p.room(), other, rooms[rule])
			}
		}
	}
}

func mayImport(rule, other string) bool {
	if slices.Contains(rooms[rule], "any") || within(other, rule) {
		return true
	}
	owner, _ := ruleFor(other)
	return slices.Contains(rooms[rule], owner)
}

func TestHouseLibraries(t *testing.T) {
	for _, p := range packages(t) {
		for library, homes := range only {
			at := slices.IndexFunc(p.Imports, func(i string) bool { return within(i, library) })
			if at >= 0 && !slices.ContainsFunc(homes, func(h string) bool { return within(p.room(), h) }) {
				t.Errorf("%s imports %s: only %v may", p.room(), p.Imports[at], homes)
			}
		}
		for program, banned := range never {
			if p.room() != program {
				continue
			}
			for _, library := range banned {
				at := slices.IndexFunc(p.Deps, func(d string) bool {
					return within(d, library) || strings.HasPrefix(d, library+".") || strings.HasPrefix(d, library+"/")
				})
				if at >= 0 {
					t.Errorf("%s pulls in %s", program, p.Deps[at])
				}
			}
		}
	}
}

func TestHouseTopLevelNames(t *testing.T) {
	allowed := []string{"cmd", "agent", "talosgen", "netplan", "testenv", "go.mod", "go.sum", "Makefile", "README.md", "LICENSE"}
	cmd := exec.Command("git", "ls-files")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	for name := range strings.Lines(string(out)) {
		top, _, _ := strings.Cut(strings.TrimSpace(name), "/")
		if !strings.HasPrefix(top, ".") && !slices.Contains(allowed, top) {
			t.Errorf("%s is not a name of the house: %v are", top, allowed)
		}
	}
}
