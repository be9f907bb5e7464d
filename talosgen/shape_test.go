package talosgen

import "testing"

func TestShapeOf(t *testing.T) {
	for version, want := range map[string]Shape{
		"v1.13.1": Shape113, "v1.13.9": Shape113, "1.13": Shape113, "v1.13.9-alpha.0-12-gabc": Shape113,
		"v1.14.0": Shape114, "v1.14.0-alpha.2": Shape114, "v1.14.0-rc.1": Shape114, "v1.15.3": Shape114, "v2.0.0": Shape114,
	} {
		if got, err := ShapeOf(version); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", version, got, err, want)
		}
	}
	for _, version := range []string{"", "v1", "latest", "v1.14x", "v-1.14", "v1.14.0\nx"} {
		if got, err := ShapeOf(version); err == nil {
			t.Errorf("%q: %v, want an error", version, got)
		}
	}
}
