package vm

import (
	"bytes"
	"regexp"
	"strings"
	"time"
)

// Result is what came of a job.
type Result struct {
	// Release is the kernel's, as uname -r says.
	Release string
	// Boot is how long the machine took until the first binary could start.
	Boot time.Duration
	// Binaries are in the job's order.
	Binaries []BinaryResult
	// Console is the end of the machine's console: the kernel's warnings.
	Console string
}

// BinaryResult is what came of one binary.
type BinaryResult struct {
	Name string
	// Exit is its exit code: 128 and the signal's number when a signal ended it,
	// -1 when it never ended.
	Exit int
	// TimedOut says that it was ended because its time was over.
	TimedOut bool
	// Output is what it wrote to both outputs.
	Output  []byte
	Elapsed time.Duration
}

// Verdict is how a test ended.
type Verdict string

// The verdicts, in the testing package's words.
const (
	Pass Verdict = "PASS"
	Fail Verdict = "FAIL"
	Skip Verdict = "SKIP"
)

// TestResult is how one test or subtest ended.
type TestResult struct {
	Name    string
	Verdict Verdict
}

// testMark is what a test binary run with -test.v=test2json puts before each line
// of its own, which what a test prints cannot be mistaken for.
const testMark = "\x16"

// verdictLine is a test's last line.
var verdictLine = regexp.MustCompile(`^ *--- (PASS|FAIL|SKIP): (\S+) \(`)

// Tests gives the tests and subtests of a test binary that ran with
// -test.v=test2json, in the order in which they were reported.
func (b BinaryResult) Tests() []TestResult {
	var tests []TestResult
	for line := range strings.Lines(string(b.Output)) {
		_, own, ok := strings.Cut(line, testMark)
		if !ok {
			continue
		}
		if m := verdictLine.FindStringSubmatch(own); m != nil {
			tests = append(tests, TestResult{Name: m[2], Verdict: Verdict(m[1])})
		}
	}
	return tests
}

// Text gives the output as a person reads it, without marks.
func (b BinaryResult) Text() string {
	return string(bytes.ReplaceAll(b.Output, []byte(testMark), nil))
}
