package netplan

import (
	"crypto/sha256"
	"fmt"
	"net"
	"strconv"
)

// MAC is an EUI-48 address. The zero value is "none". Its text form is lower
// case with colons, which Talos's selectors need to match anything.
type MAC [6]byte

// ParseMAC reads a 48-bit address in any common notation and in either case.
func ParseMAC(s string) (MAC, error) {
	hw, err := net.ParseMAC(s)
	if err != nil || len(hw) != 6 {
		return MAC{}, fmt.Errorf("%s is not a MAC address: give six bytes like bc:24:11:00:00:01", Quote(s))
	}
	if MAC(hw).IsZero() {
		return MAC{}, fmt.Errorf("%s is no NIC's address: give one like bc:24:11:00:00:01, or leave it out", Quote(s))
	}
	return MAC(hw), nil
}

// String gives the address in lower case with colons.
func (m MAC) String() string { return net.HardwareAddr(m[:]).String() }

// IsZero says that there is no address.
func (m MAC) IsZero() bool { return m == MAC{} }

// IsMulticast says that no NIC may have this address.
func (m MAC) IsMulticast() bool { return m[0]&1 == 1 }

// MarshalText implements encoding.TextMarshaler.
func (m MAC) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *MAC) UnmarshalText(b []byte) (err error) {
	*m, err = ParseMAC(string(b))
	return err
}

// The two NICs of a machine, as they enter a derived MAC.
const (
	nicPrivate  = 0
	nicExternal = 1
)

// deriveMAC gives NIC i of a machine its address: locally administered, the
// same for the same names.
func deriveMAC(cluster, hostname string, nic int) MAC {
	sum := sha256.Sum256([]byte(cluster + "/" + hostname + "/" + strconv.Itoa(nic)))
	return MAC{0x02, sum[0], sum[1], sum[2], sum[3], sum[4]}
}
