package provision

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"homeward/netplan"
)

//go:embed nics.sh.tmpl
var nicScript string

// scriptMachine is one line of the script's table; every field is quoted for sh,
// and empty where the plan has nothing.
type scriptMachine struct {
	Name, Node, VMID, Net0, Net1 string
}

// NICScript renders nics.sh, a POSIX script that gives the machines their NICs
// with pvesh. It is rendered whatever the plan knows: the script itself refuses,
// before it changes anything, to work without a node and a VMID for each machine.
func NICScript(p *netplan.Plan) ([]byte, error) {
	machines := make([]scriptMachine, 0, len(p.Machines))
	for _, m := range p.Machines {
		line := scriptMachine{Name: shellQuote(m.Name), Node: shellQuote(m.Node), VMID: "''", Net1: "''"}
		if m.VMID != 0 {
			line.VMID = strconv.Itoa(m.VMID)
		}
		all := nics(p, m)
		line.Net0 = shellQuote(all[0].option())
		if len(all) > 1 {
			line.Net1 = shellQuote(all[1].option())
		}
		machines = append(machines, line)
	}
	t, err := template.New("nics.sh").Parse(nicScript)
	if err != nil {
		return nil, fmt.Errorf("parsing nics.sh: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, map[string]any{"Machines": machines}); err != nil {
		return nil, fmt.Errorf("rendering nics.sh: %w", err)
	}
	return out.Bytes(), nil
}

// shellQuote makes one word of s in any POSIX shell.
func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
