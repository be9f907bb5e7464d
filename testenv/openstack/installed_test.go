//go:build linux

package openstack

import (
	"strings"
	"testing"
)

func TestMissingPackagesAreNamed(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"none":          {map[string]string{"/": "base-files"}, ""},
		"each one once": {map[string]string{"/": "base-files", "/none/b": "two", "/none/a": "two", "/none/c": "one"}, "--no-install-recommends one two"},
	} {
		t.Run(name, func(t *testing.T) {
			err := installed(test.files)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("%v, want %q at its end", err, test.want)
			}
		})
	}
}
