//go:build linux

package demo

import (
	"fmt"

	"homeward/netplan"
	"homeward/testenv/netlab"
)

// ShellTable is the alternative's own table, and shellPriority its hook priority, the
// kernel's mangle.
const (
	ShellTable    = "shell_return_path"
	shellPriority = -150
)

// Shell is the public alternative, written anew after its description: a shell
// loop in the kube-proxy image with a prerouting chain in an IPv4 table. It looks
// every 30 s whether the table is there and ends when it is not; its rules go
// whenever it ends. Where the description leaves a choice this takes the kinder
// one: it loads its rules in one transaction.
func Shell() Program { return shellEvery(30) }

// shellEvery is Shell with another time between looks, in seconds.
func shellEvery(seconds int) Program {
	return Program{
		Name: "shell loop",
		Command: func(n *netlab.Node) []string {
			return []string{"sh", "-eu", "-c", shellScript(n.ExternalLink, seconds)}
		},
		Needs:   []string{"sh", "nft", "sleep"},
		Steered: true,
	}
}

func shellScript(link string, seconds int) string {
	mark := netplan.DefaultMark.String()
	return fmt.Sprintf(`
clean() { nft delete table ip %[1]s 2>/dev/null || true; }
trap 'exit 0' TERM INT
trap clean EXIT
nft -f - <<RULES
table ip %[1]s
delete table ip %[1]s
table ip %[1]s {
	chain prerouting {
		type filter hook prerouting priority %[4]d; policy accept;
		iifname "%[2]s" ct direction original ct mark set ct mark or %[3]s
		ct direction reply ct mark and %[3]s == %[3]s meta mark set meta mark or %[3]s
	}
}
RULES
while nft list table ip %[1]s >/dev/null 2>&1; do
	sleep %[5]d &
	wait $!
done
exit 1
`, ShellTable, link, mark, shellPriority, seconds)
}
