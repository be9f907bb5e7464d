package load

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// saying is one thing the YAML library complains of, in our words. The library's
// own words are never passed on, for they repeat the file's: a password that
// begins with "*" or "!" is an alias or a tag to it.
type saying struct {
	// text is a part of what the library says.
	text string
	ours string
	// opening says that the fault stands where the construct begins, not where
	// the library gave up.
	opening bool
}

// sayings are tried in order.
var sayings = []saying{
	{text: "unknown anchor", ours: `an alias (*) here has no anchor (&) before it: put a text that begins with "*" in quotes`},
	{text: "an anchor at", ours: `an "&" here has no name: put a text that begins with "&" in quotes`},
	{text: "an alias at", ours: `a "*" here has no name: put a text that begins with "*" in quotes`},
	{text: "undefined tag handle", ours: `a tag (!) here is not known: put a text that begins with "!" in quotes`},
	{text: "a tag at", ours: `a tag (!) here is not known: put a text that begins with "!" in quotes`, opening: true},
	{text: "could not find expected ':'", ours: "a key here has no colon: give it as KEY: VALUE", opening: true},
	{text: "found unexpected end of stream", ours: "a quote that opens here is never closed", opening: true},
	{text: "found unexpected document indicator", ours: "a quote that opens here is never closed", opening: true},
	{text: "a quoted scalar at", ours: "a backslash in double quotes begins no escape here: use single quotes"},
	{text: "',' or ']'", ours: "a list that opens here is not closed, or a comma is missing in it", opening: true},
	{text: "',' or '}'", ours: "a map that opens here is not closed, or a comma is missing in it", opening: true},
	{text: "did not find expected key", ours: "this does not fit what stands before it: look at the indentation and at what follows a closing quote or bracket"},
	{text: "did not find expected node content", ours: "a value should stand here: look for one bracket or comma too many, or one missing"},
	{text: "cannot start any token", ours: "a value here begins with a character that YAML reserves (such as @, % or a backquote): put it in quotes"},
	{text: "mapping values are not allowed", ours: "a colon here is one too many: put a text that holds \": \" in quotes, or look at the indentation"},
	{text: "block sequence entries are not allowed", ours: "an entry of a list (-) cannot stand here: begin it on a line of its own"},
	{text: "mapping keys are not allowed", ours: `a "?" cannot stand here: put a text that begins with it in quotes`},
	{text: "a block scalar at", ours: "only an indented text may follow a | or >, on the lines below"},
	{text: "incompatible YAML document", ours: "the %YAML line asks for another version than 1.1: leave the line out"},
	{text: "directive", ours: "a line that begins with % is none of YAML's directives: leave it out"},
	{text: "<document start>", ours: "the document has ended before this line"},
	{text: "tab character", ours: "a tab stands here where YAML takes only spaces"},
	{text: "control characters are not allowed", ours: "control characters are not allowed"},
}

// Places in the library's errors, whose types are internal to it.
var (
	errorPlace  = regexp.MustCompile(`(?:line (\d+)(?:, column \d+)?|<unknown position>): `)
	errorOffset = regexp.MustCompile(`offset (\d+): `)
)

// syntaxFault turns the YAML library's error into a fault with a line.
func syntaxFault(data []byte, err error) *Located {
	text := err.Error()
	opening, line := errorLines(data, err)
	if strings.Contains(text, "exceeded max depth") {
		return tooDeep(line)
	}
	if near := tabLine(data, line); near > 0 {
		return whole(near, "the line is indented with a tab: YAML takes only spaces")
	}
	for _, s := range sayings {
		if !strings.Contains(text, s.text) {
			continue
		}
		if s.opening {
			line = opening
		}
		return whole(line, "this is not YAML: "+s.ours)
	}
	return whole(line, "this is not YAML")
}

// errorLines gives the lines where the library began to read the construct and
// where it gave up, neither beyond the last that has text.
func errorLines(data []byte, err error) (opening, problem int) {
	text, end := err.Error(), lastLine(data)
	if m := errorOffset.FindStringSubmatch(text); m != nil {
		at, _ := strconv.Atoi(m[1])
		line := min(lineAt(data, at), end)
		return line, line
	}
	first := 0
	// The library's parser counts lines from 0, its scanner and composer from 1.
	if fmt.Sprintf("%T", err) == "libyaml.ParserError" {
		first = 1
	}
	var lines []int
	for _, m := range errorPlace.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		lines = append(lines, min(max(n+first, 1), end))
	}
	if len(lines) == 0 {
		return 1, 1
	}
	return lines[0], lines[len(lines)-1]
}

// lineBreak is what YAML counts as the end of a line.
var lineBreak = regexp.MustCompile("\r\n|[\r\n\u0085\u2028\u2029]")

// lastLine is the last line that is not empty.
func lastLine(data []byte) int {
	text := bytes.TrimRight(data, " \t\r\n\u0085\u2028\u2029")
	return 1 + len(lineBreak.FindAllIndex(text, -1))
}

// tabLine looks for an indenting tab on the error's line or beside it (the
// library's marks are off by one in places), 0 for none.
func tabLine(data []byte, line int) int {
	lines := bytes.Split(data, []byte{'\n'})
	for _, n := range []int{line, line + 1, line - 1} {
		if n < 1 || n > len(lines) {
			continue
		}
		text := lines[n-1]
		indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
		if bytes.ContainsRune(indent, '\t') {
			return n
		}
	}
	return 0
}
