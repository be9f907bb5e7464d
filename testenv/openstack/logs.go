//go:build linux

package openstack

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// LogTails gives the last lines of every server's log, for a test that failed
// where nobody can look at the files afterwards.
func (c *Cloud) LogTails(lines int) string {
	files, err := filepath.Glob(filepath.Join(c.place.Logs, "*.log"))
	if err != nil {
		return err.Error()
	}
	var text strings.Builder
	for _, file := range files {
		log, err := os.ReadFile(file)
		if err != nil {
			fmt.Fprintln(&text, err)
			continue
		}
		all := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
		tail := all[max(0, len(all)-lines):]
		fmt.Fprintf(&text, "--- %s, the last %d of %d lines\n%s\n", filepath.Base(file), len(tail), len(all), bytes.Join(tail, []byte("\n")))
	}
	return text.String()
}
