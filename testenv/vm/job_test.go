package vm

import (
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJobCheck(t *testing.T) {
	binary := []Binary{{Name: "a"}}
	mac := net.HardwareAddr{2, 0, 0, 0, 0, 1}
	tests := map[string]struct {
		job  Job
		want string
	}{
		"one binary":               {Job{Binaries: binary}, ""},
		"nothing to do":            {Job{}, "finds nothing out"},
		"two binaries of one name": {Job{Binaries: []Binary{{Name: "a"}, {Name: "a"}}}, `binary "a"`},
		"a name that is a path":    {Job{Binaries: []Binary{{Name: "../a"}}}, `"../a"`},
		"relative directory":       {Job{Binaries: []Binary{{Name: "a", Dir: "b"}}}, "not absolute"},
		"a NIC":                    {Job{Binaries: binary, NICs: []NIC{{ID: "a", MAC: mac}}}, ""},
		"a NIC that QEMU would read as more": {
			Job{Binaries: binary, NICs: []NIC{{ID: "a,mac=x", MAC: mac}}}, "NIC",
		},
		"a NIC of many":        {Job{Binaries: binary, NICs: []NIC{{ID: "a", MAC: net.HardwareAddr{1, 0, 0, 0, 0, 1}}}}, "one Ethernet card"},
		"a NIC without MAC":    {Job{Binaries: binary, NICs: []NIC{{ID: "a"}}}, "one Ethernet card"},
		"segment below zero":   {Job{Binaries: binary, NICs: []NIC{{ID: "a", MAC: mac, Segment: -1}}}, "segment"},
		"file with a way out":  {Job{Binaries: binary, Files: []File{{Name: "/a/../b"}}}, "clean"},
		"file without a slash": {Job{Binaries: binary, Files: []File{{Name: "a"}}}, "clean"},
		"file below the root":  {Job{Binaries: binary, Files: []File{{Name: "/a/b"}}}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := test.job.check()
			switch {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestTests(t *testing.T) {
	b := BinaryResult{Output: []byte("\x16=== RUN   TestA\n" +
		"--- PASS: TestInvented (0.00s)\n" +
		"said without a line's end\x16--- FAIL: TestA/sub (0.10s)\n" +
		"\x16    --- SKIP: TestA/other (0.00s)\n" +
		"\x16--- PASS: TestB (1.00s)\n\x16PASS\n")}
	want := []TestResult{{"TestA/sub", Fail}, {"TestA/other", Skip}, {"TestB", Pass}}
	if diff := cmp.Diff(want, b.Tests()); diff != "" {
		t.Errorf("tests (-want +got):\n%s", diff)
	}
	if strings.Contains(b.Text(), "\x16") {
		t.Errorf("marks are left in %q", b.Text())
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var c tail
	for range 3 {
		_, _ = c.Write([]byte(strings.Repeat("x", tailSize/2)))
	}
	_, _ = c.Write([]byte("panic\r\n"))
	got := c.String()
	if !strings.HasSuffix(got, "xpanic\n") || len(got) > tailSize {
		t.Errorf("%d bytes, ending in %q", len(got), got[max(0, len(got)-10):])
	}
}
