//go:build linux

package kernel

import (
	"encoding/binary"
	"time"

	"homeward/netplan"
)

// The stamp stands in the user data of every rule of our table, in the
// type-length-value form that nft keeps its comments in. nft passes over types it
// does not know, so the stamp changes nothing that nft lists. It is not in the
// table's own user data because google/nftables neither writes nor reads that,
// and the kernel never changes it on a table that exists.
const (
	// stampType is far from nft's own types, 0 (comment) and 1.
	stampType = 0x48
	// stampFormat comes first in the value, then the start (8 bytes, nanoseconds
	// since boot, big endian) and the settings' digest (8 bytes).
	stampFormat = 1
	stampLength = 1 + 8 + 8
)

// marshalStamp gives a rule's user data.
func marshalStamp(s netplan.Stamp) []byte {
	b := []byte{stampType, stampLength, stampFormat}
	b = binary.BigEndian.AppendUint64(b, uint64(s.Start))
	return append(b, s.Settings[:]...)
}

// parseStamp finds the stamp in a rule's user data, which may be anyone's.
func parseStamp(b []byte) (netplan.Stamp, bool) {
	for len(b) >= 2 {
		kind, length := b[0], int(b[1])
		if len(b) < 2+length {
			break
		}
		value := b[2 : 2+length]
		if kind == stampType && length == stampLength && value[0] == stampFormat {
			start := binary.BigEndian.Uint64(value[1:9])
			if start > uint64(1<<63-1) {
				break
			}
			return netplan.Stamp{Start: time.Duration(start), Settings: [8]byte(value[9:])}, true
		}
		b = b[2+length:]
	}
	return netplan.Stamp{}, false
}
