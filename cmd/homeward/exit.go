package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// exitCode is what the process returns. The numbers are kept for ever.
type exitCode int

const (
	exitDone       exitCode = 0
	exitFailed     exitCode = 1
	exitUsage      exitCode = 2
	exitTaken      exitCode = 3
	exitUnknown    exitCode = 4
	exitDifference exitCode = 5
)

// meanings explains each code, in the order of the numbers.
var meanings = []struct {
	code exitCode
	text string
}{
	{exitDone, "done"},
	{exitFailed, "failed: a check failed, a request was refused, a file could not be written, a bound was broken"},
	{exitUsage, "the plan or the command line is wrong"},
	{exitTaken, "an address is taken"},
	{exitUnknown, "unknown: the server did not say whether it wrote, or a check or a source could not be read"},
	{exitDifference, "there is a difference (generate --diff, status with drift)"},
}

// worstFirst is which code wins when several apply.
var worstFirst = []exitCode{exitUsage, exitUnknown, exitTaken, exitFailed, exitDifference, exitDone}

// coded is an error that knows its exit code. Its text may be empty when what
// there is to say has been said.
type coded struct {
	code exitCode
	err  error
}

func (c *coded) Error() string {
	if c.err == nil {
		return ""
	}
	return c.err.Error()
}

func (c *coded) Unwrap() error { return c.err }

// usage marks an error as the operator's to correct.
func usage(format string, args ...any) error {
	return &coded{exitUsage, fmt.Errorf(format, args...)}
}

// said ends a command whose output has been written already.
func said(code exitCode) error { return &coded{code: code} }

// codeOf is the worst code of an error and all that are joined in it.
func codeOf(err error) exitCode {
	if err == nil {
		return exitDone
	}
	var codes []exitCode
	var walk func(error)
	walk = func(err error) {
		switch e := err.(type) {
		case *coded:
			codes = append(codes, e.code)
		case interface{ Unwrap() []error }:
			for _, inner := range e.Unwrap() {
				walk(inner)
			}
		default:
			if inner := errors.Unwrap(err); inner != nil {
				walk(inner)
				return
			}
			codes = append(codes, exitFailed)
		}
	}
	walk(err)
	return slices.MinFunc(codes, func(a, b exitCode) int {
		return cmp.Compare(slices.Index(worstFirst, a), slices.Index(worstFirst, b))
	})
}

// exitCodesTopic is `homeward help exit-codes`.
func exitCodesTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Every command returns one of these, and they are kept for ever:\n\n")
	for _, m := range meanings {
		fmt.Fprintf(&b, "  %d  %s\n", m.code, m.text)
	}
	b.WriteString("\nWhere several apply the worst wins, in the order 2, 4, 3, 1, 5.")
	return &cobra.Command{Use: "exit-codes", Short: "what each exit code means", Long: b.String()}
}
