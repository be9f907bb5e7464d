package talosgen

import (
	"fmt"
	"regexp"
	"strconv"

	"homeward/netplan"
)

// Shape is which documents carry the Kubernetes side of a machine: it changed
// with Talos 1.14.
type Shape int

// The two shapes.
const (
	// Shape113 puts the node address, certificate names, labels and static pods
	// into the v1alpha1 document.
	Shape113 Shape = iota
	// Shape114 has documents of their own for them (KubeNodeConfig,
	// KubeAPIServerConfig, KubeStaticPodConfig).
	Shape114
)

// String gives the Talos versions of that shape.
func (s Shape) String() string {
	if s == Shape114 {
		return "1.14 and later"
	}
	return "1.13"
}

// talosVersion reads the two numbers that choose the shape. What follows the
// minor (patch level, pre-release) does not matter: v1.14.0-alpha.1 is 1.14.
var talosVersion = regexp.MustCompile(`^v?(\d{1,4})\.(\d{1,4})(?:[.\-+].*)?$`)

// ShapeOf gives the shape for a Talos version. The error names the version.
func ShapeOf(version string) (Shape, error) {
	m := talosVersion.FindStringSubmatch(version)
	if m == nil {
		return 0, fmt.Errorf("talos version %s is not like v1.13.9", netplan.Quote(version))
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major > 1 || major == 1 && minor >= 14 {
		return Shape114, nil
	}
	return Shape113, nil
}
