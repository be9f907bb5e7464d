//go:build linux

package kernel

import (
	"testing"
	"time"

	"homeward/netplan"
)

func TestStampSurvivesTheRound(t *testing.T) {
	want := netplan.Stamp{Start: 77 * time.Hour, Settings: [8]byte{0xff, 1}}
	comment := []byte{0, 3, 'h', 'i', 0}
	for name, data := range map[string][]byte{
		"alone":            marshalStamp(want),
		"behind a comment": append(comment, marshalStamp(want)...),
	} {
		if got, ok := parseStamp(data); !ok || got != want {
			t.Errorf("%s: got %v, %v", name, got, ok)
		}
	}
}

func TestForeignUserDataIsNoStamp(t *testing.T) {
	good := marshalStamp(netplan.Stamp{Start: 1})
	otherFormat := append([]byte(nil), good...)
	otherFormat[2] = 2
	negative := append([]byte(nil), good...)
	negative[3] = 0xff
	for name, data := range map[string][]byte{
		"none": nil, "one byte": {stampType}, "cut short": good[:10], "length past the end": {0, 200, 1},
		"another format": otherFormat, "a start before boot": negative, "another type": {1, 1, 1},
	} {
		if s, ok := parseStamp(data); ok {
			t.Errorf("%s: read %v", name, s)
		}
	}
}

func FuzzParseStamp(f *testing.F) {
	f.Add(marshalStamp(netplan.Stamp{Start: time.Hour, Settings: [8]byte{1}}))
	f.Add([]byte{0, 200, 1})
	f.Add([]byte{0, 0, 0, 0, stampType, stampLength})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, ok := parseStamp(data)
		if !ok {
			return
		}
		if s.Start < 0 {
			t.Fatalf("start %v is before boot", s.Start)
		}
		if again, ok := parseStamp(marshalStamp(s)); !ok || again != s {
			t.Fatalf("%v became %v", s, again)
		}
	})
}
