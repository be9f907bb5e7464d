//go:build linux

package openstack

import (
	"fmt"
	"os"
	"strings"
)

// WantedVariable says, when it is "1", that tests of the lab are to run.
const WantedVariable = "HOMEWARD_OPENSTACK"

// Wanted says whether tests of the lab are to run.
func Wanted() bool { return os.Getenv(WantedVariable) == "1" }

// Packages are the Debian packages that the lab needs. They are libraries: none
// has a service or asks a question.
var packages = map[string]string{
	"/usr/lib/python3/dist-packages/keystone": "python3-keystone",
	pasteFile:     "python3-neutron",
	mariadbd:      "mariadb-server-core",
	mariadbTables: "mariadb-server-core",
}

// Installed gives an error that names the Debian packages that are missing.
func Installed() error {
	missing := map[string]bool{}
	for file, name := range packages {
		if _, err := os.Stat(file); err != nil {
			missing[name] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var names []string
	for name := range missing {
		names = append(names, name)
	}
	return fmt.Errorf("the OpenStack lab needs Debian's packages: apt-get install --no-install-recommends %s", strings.Join(names, " "))
}
