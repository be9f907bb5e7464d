package report

import (
	"fmt"
	"strings"
)

// counted says a number with its noun: "1 machine", "2 addresses".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// some names the first few of many.
func some(names []string) string {
	const most = 6
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// oneOf names alternatives.
func oneOf(names []string) string {
	if len(names) == 2 {
		return names[0] + " or " + names[1]
	}
	if len(names) > 2 {
		return "any of " + some(names)
	}
	return some(names)
}

// upper begins a sentence.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
