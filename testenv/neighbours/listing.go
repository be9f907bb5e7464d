//go:build linux

package neighbours

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"homeward/netplan"
	"homeward/testenv/netlab"
)

// List lists everything on a node that is neither Homeward's nor the lab's: nftables
// tables and those of iptables-legacy without their counters, routing rules, and the
// routes of all tables. Left out is also what every user of iptables shares and nobody
// takes away, its tables and their built-in chains. It is empty when nobody has
// installed anything.
func List(ctx context.Context, n *netlab.Node) ([]string, error) {
	var l []string
	for _, part := range []struct {
		program string
		args    []string
		foreign func(lines []string) []string
	}{
		{"nft", []string{"-s", "list", "ruleset"}, foreignTables},
		{"iptables-legacy-save", nil, rulesOfTables},
		{"ip", []string{"rule", "list"}, foreignRules},
		{"ip", []string{"route", "show", "table", "all"}, foreignRoutes},
	} {
		out, err := n.Command(ctx, part.program, part.args...).Output()
		if err != nil {
			return nil, fmt.Errorf("listing a node's objects: %w", err)
		}
		l = append(l, part.foreign(strings.Split(strings.TrimSpace(string(out)), "\n"))...)
	}
	return slices.DeleteFunc(l, sharedLine.MatchString), nil
}

// sharedLine is the head of a table of iptables-nft, of a built-in chain in it, or where
// that is hooked.
var sharedLine = regexp.MustCompile(`^ip (raw|mangle|nat|filter) (: table .*|(PREROUTING|INPUT|FORWARD|OUTPUT|POSTROUTING): (chain|type) .*)$`)

// foreignTables leaves out the tables of Homeward and of the lab, and puts before each
// line its table and chain, by which it sorts: nft lists them as they were made.
func foreignTables(lines []string) []string {
	ours := []string{
		"inet " + netplan.NFTablesTable, "inet " + netplan.NFTablesScratchTable, "ip kube-proxy", "inet " + witness,
	}
	var out []string
	var table, chain string
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "table "):
			table, chain = strings.TrimSuffix(strings.TrimPrefix(line, "table "), " {"), ""
		case strings.HasPrefix(line, "\tchain "):
			chain = strings.TrimSuffix(strings.TrimPrefix(line, "\tchain "), " {")
		}
		if line = strings.TrimSpace(line); !slices.Contains(ours, table) && line != "" && line != "}" {
			out = append(out, fmt.Sprintf("%s %s: %s", table, chain, line))
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		a, _, _ = strings.Cut(a, ":")
		b, _, _ = strings.Cut(b, ":")
		return strings.Compare(a, b)
	})
	return out
}

// rulesOfTables leaves out what iptables-save says of itself and of built-in chains.
func rulesOfTables(lines []string) []string {
	var out []string
	for _, line := range lines {
		if strings.HasPrefix(line, "-") || strings.HasPrefix(line, ":") && strings.Contains(line, " - ") {
			line, _, _ = strings.Cut(line, " [")
			out = append(out, "legacy "+line)
		}
	}
	return out
}

// foreignRules leaves out the kernel's rules and Homeward's. Of the kernel's it keeps
// what was moved.
func foreignRules(lines []string) []string {
	priorities := netplan.PrioritiesAt(netplan.DefaultPriority)
	skip := []string{"0:\tfrom all lookup local", "32766:\tfrom all lookup main", "32767:\tfrom all lookup default"}
	for _, p := range []netplan.Priority{
		priorities.VIP, priorities.Mark, priorities.VIPUnreachable, priorities.MarkUnreachable, priorities.PreferMain(),
	} {
		skip = append(skip, fmt.Sprintf("%d:\t", p))
	}
	return slices.DeleteFunc(lines, func(line string) bool {
		return line == "" || slices.ContainsFunc(skip, func(s string) bool { return strings.HasPrefix(line, s) })
	})
}

// foreignRoutes leaves out the kernel's and the lab's own tables, and Homeward's.
func foreignRoutes(lines []string) []string {
	ours := fmt.Sprintf(" table %d ", netplan.DefaultTable)
	return slices.DeleteFunc(lines, func(line string) bool {
		padded := line + " "
		return !strings.Contains(padded, " table ") || strings.Contains(padded, " table local ") || strings.Contains(padded, ours)
	})
}
