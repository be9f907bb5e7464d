package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// debVersion makes a Debian version of one that git describe gave, so that a later
// commit is a later version. v1.2.0 becomes 1.2.0, v1.2.0-3-gabc1234 the later
// 1.2.0+3.gabc1234, v1.2.0-rc.1 the earlier 1.2.0~rc.1.
//
// What has no number is older than every release, and sorts by the time of the
// commit: ac31cd6 becomes 0~git20261130193455.ac31cd6. Without that time, outside of
// a repository, it is older than all that have one. The word git keeps it later than
// the bare 0~ac31cd6 of packages that were built before there was a time in it.
func debVersion(described, committed string) (string, error) {
	const layout, never = "20060102150405", "0"
	if committed == "" {
		committed = never
	}
	if _, err := time.Parse(layout, committed); err != nil && committed != never {
		return "", fmt.Errorf("-committed %q is no time: give it in UTC as YYYYMMDDHHMMSS, or 0 when it is not known", committed)
	}
	v := strings.TrimPrefix(described, "v")
	if !numbered.MatchString(v) {
		if v == "" {
			v = "unknown"
		}
		return notDebian.ReplaceAllString("0~git"+committed+"."+v, "."), nil
	}
	head, rest, more := strings.Cut(v, "-")
	switch {
	case rest == "dirty":
		head += "+0.dirty" // before the first commit after the tag
	case after.MatchString(rest):
		head += "+" + rest
	case more:
		head += "~" + rest
	}
	return notDebian.ReplaceAllString(head, "."), nil
}

var (
	// numbered is a tag that is a version, and not a commit of digits alone.
	numbered = regexp.MustCompile(`^[0-9]+\.`)
	// after is what git describe adds to a tag for commits after it.
	after = regexp.MustCompile(`^[0-9]+-g[0-9a-f]+(-dirty)?$`)
	// notDebian is what a Debian version may not have.
	notDebian = regexp.MustCompile(`[^A-Za-z0-9.+~]`)
)
